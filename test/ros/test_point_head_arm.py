"""The head action of an arm: any chain points, with any frame on its hand."""

import pytest
from point_head_client import SUCCEEDED, Client, miss
from robot_bench import running

AT = (0.9, -0.5, 0.7)


@pytest.mark.parametrize(("frame", "axis"), [("", (0.0, 0.0, 1.0)), ("ft_frame", (1.0, 0.0, 0.0))])
def test_an_arm_points(domain, frame, axis):
    with running(domain) as arm:
        assert Client(arm).run(AT, pointing_frame=frame) == SUCCEEDED
        assert miss(arm, AT, frame or "tool0", axis) <= 0.01
    assert "head goal pointed there" in arm.output
