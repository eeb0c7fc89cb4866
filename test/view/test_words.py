# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The text in each state."""

import re

import pytest

from basis_ik.arm.admission import Refusal, Refused
from basis_ik.arm.chain_state import LATCHES, ChainState, Event, State
from basis_ik.arm.goals import JointVelocityGoal, TwistGoal
from basis_ik.arm.jog import Held
from basis_ik.solvers.pose.solve import Solution
from basis_ik.verdict import Reason, Verdict
from basis_ik.view.shapes import GREEN, GREY, ORANGE, RED, WHITE, YELLOW
from basis_ik.view.words import PHRASES, phase, words

READY = (Event.CONFIGURE, Event.ACTIVATE)
MOVING = (*READY, Event.MOVE)
HOLDING = (*MOVING, Event.END_COMMANDS)
ARRIVED = (*HOLDING, Event.ARRIVE)


def state(*events):
    chain = ChainState()
    for event in events:
        assert chain.handle(*event) if isinstance(event, tuple) else chain.handle(event)
    return chain


def solved(reason):
    return Solution(None, reason.verdict, 0.0, 0.0, 0, 0, reason)


REACHED = solved(Reason(Verdict.REACHED))
TOO_FAR = solved(Reason(Verdict.TOO_FAR, missing=0.25))


@pytest.mark.parametrize(
    ("events", "solution", "text", "color"),
    [
        (MOVING, REACHED, "on the way", WHITE),
        (HOLDING, REACHED, "on the way", WHITE),  # the command is there, the arm is not
        (ARRIVED, REACHED, "reached", GREEN),
        (MOVING, None, "on the way", WHITE),
        (ARRIVED, None, "reached", GREEN),
        (MOVING, TOO_FAR, "on the way, as near as it gets: too far by 250 mm", ORANGE),
        (HOLDING, TOO_FAR, "on the way, as near as it gets: too far by 250 mm", ORANGE),
        (ARRIVED, TOO_FAR, "as near as it gets: too far by 250 mm", ORANGE),
    ],
)
def test_a_target_is_reached_when_the_arm_is_there(events, solution, text, color):
    assert words(state(*events), solution) == (text, color)


def test_a_moving_goal_is_followed():
    assert words(state(*MOVING), REACHED, following=True) == ("following", WHITE)
    logged = words(state(*MOVING), TOO_FAR, following=True)
    assert logged == ("following, as near as it gets: too far by 250 mm", ORANGE)
    assert words(state(*ARRIVED), REACHED, following=True) == ("reached", GREEN)


def test_a_stop_is_shown_with_the_remedy():
    logged = words(state(*READY, (Event.STOP, "stopped")), None)
    assert logged == ("stopped; call ~/enable to continue", ORANGE)


def test_lost_tracking_is_shown_with_the_joint():
    logged = words(state(*READY, (Event.LOSE_TRACKING, "elbow is 0.3 from where it was")), None)
    assert logged == ("elbow is 0.3 from where it was; call ~/enable to continue", RED)


def test_waiting_is_shown_with_the_reason():
    logged = words(state(*READY, (Event.UNMET, "no joint state of elbow")), None)
    assert logged == ("waiting: no joint state of elbow", YELLOW)


def test_a_problem_is_shown():
    refused = Refused(Refusal.NO_FRAME, "header.frame_id")
    assert words(state(*READY), None).text == "no target"
    assert words(state(*READY), None, refused=refused).text == str(refused)
    assert words(state(*READY), None, "the controller is gone", refused).color == RED
    newest = f"the newest target was refused: {refused}"
    assert words(state(*ARRIVED), REACHED, refused=refused) == (newest, ORANGE)
    assert words(state(*READY, Event.DEACTIVATE), None).text == "inactive"
    assert words(state(*MOVING, Event.DROP_TARGET), None).text == "coming to rest"


@pytest.mark.parametrize("each", [s for s in State if s not in LATCHES.values()])
def test_there_is_a_line_for_every_other_state(each):
    chain = state(*READY)
    chain.state = each
    assert words(chain, REACHED).text


HELD = Held(Verdict.LIMIT, joint="elbow", bound=3.0)


@pytest.mark.parametrize(
    "goal", [TwistGoal((0.1, 0.0, 0.0), (0.0, 0.0, 0.0)), JointVelocityGoal((0.1,))]
)
def test_an_arm_that_is_jogged_has_no_target_to_be_on_the_way_to(goal):
    assert words(state(*MOVING), None, goal=goal) == ("jogging", WHITE)
    assert words(state(*MOVING), solved(HELD), goal=goal).text.startswith(
        "elbow is held by its limit"
    )
    assert phase(State.ARRIVED, goal) == "jogging"


def test_the_status_and_rviz_say_the_same():
    for events in (READY, MOVING, HOLDING, ARRIVED, (*MOVING, Event.DROP_TARGET)):
        chain = state(*events)
        assert phase(chain.state, None) == words(chain, REACHED).text


def test_what_is_said_is_in_the_table():
    """But for reasons, which stand for `...`."""
    colors = {"white": WHITE, "grey": GREY, "green": GREEN, "orange": ORANGE, "red": RED}
    colors["yellow"] = YELLOW
    said = {
        words(state(*READY, (Event.UNMET, "x")), None),
        words(state(*READY), None),
        words(state(*MOVING), REACHED),
        words(state(*MOVING), REACHED, following=True),
        words(state(*MOVING), None, goal=TwistGoal((0.1, 0.0, 0.0), (0.0, 0.0, 0.0))),
        words(state(*ARRIVED), REACHED),
        words(state(*ARRIVED), TOO_FAR),
        words(state(*MOVING), REACHED, hindrance="held by table and tool, 10.0 mm"),
        words(state(*MOVING), solved(HELD), goal=JointVelocityGoal((0.1,))),
        words(state(*MOVING), REACHED, refused=Refused(Refusal.NO_FRAME, "f")),
        words(state(*MOVING, Event.DROP_TARGET), None),
        words(state(*READY, (Event.STOP, "stopped")), None),
        words(state(*READY, (Event.LOSE_TRACKING, "elbow is lost")), None),
    }
    forms = [
        (re.compile(re.escape(text).replace(re.escape("..."), ".*")), colors[color])
        for text, color, _ in PHRASES
    ]
    for text, color in said:
        assert any(form.fullmatch(text) and color == of for form, of in forms), text
    assert len(said) == len(PHRASES)
