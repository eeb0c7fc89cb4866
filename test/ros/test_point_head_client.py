# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The head action and a client of rclpy, over DDS."""

from pathlib import Path

import numpy as np
from point_head_client import ABORTED, CANCELED, SUCCEEDED, Client
from robot_bench import running

PAN_TILT = (Path(__file__).parents[2] / "urdf" / "pan_tilt.urdf").read_text()


def test_a_client_gets_answers_feedback_and_results(domain):
    with running(domain, urdf=PAN_TILT, home=np.zeros(2)) as head:
        client = Client(head)
        assert not client.send((2.0, 0.3, 0.4), max_velocity=-1.0).accepted
        first = client.send((0.5, 2.0, 0.8), min_duration=1000.0)
        head.wait(lambda: client.feedback, "feedback")
        second = client.send((0.5, -2.0, 0.8), min_duration=1000.0)
        assert client.end(first) == ABORTED
        client.cancel(second)
        assert client.end(second) == CANCELED
        assert client.run((2.0, 0.3, 0.4)) == SUCCEEDED
