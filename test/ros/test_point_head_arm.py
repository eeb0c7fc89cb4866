"""The head action of an arm: any chain points, with any frame on its hand."""

import pytest
from point_head_client import SUCCEEDED, Client, miss
from robot_bench import running

AT = (0.9, -0.5, 0.7)


@pytest.mark.parametrize("frame", ["", "ft_frame"])
def test_an_arm_points(domain, frame):
    with running(domain) as arm:
        assert Client(arm).run(AT, pointing_frame=frame) == SUCCEEDED
        assert miss(arm, AT, frame or "tool0", (1.0, 0.0, 0.0)) <= 0.01
    assert "head goal pointed there" in arm.output
