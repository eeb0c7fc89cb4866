# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The rule of replacement: asked for once, never waited for, unknown means not by stamps."""

from types import SimpleNamespace

import pytest
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import GetParameters

from basis_ik.ros.action_forms import PARAMETER_VALUES
from basis_ik.ros.outputs.replacement_rule import ReplacementRule

# The numbers themselves: with those of the module no change of them would be seen.
PATIENCE = 2.0

NOT_SET, TRUE = ParameterValue(), ParameterValue(type=1, bool_value=True)
FALSE, TEXT = ParameterValue(type=1), ParameterValue(type=4, string_value="false")


class Asking:
    """A node whose time passes on demand, and the controller that it asks."""

    def __init__(self, given="ask"):
        self.now, self.there, self.questions, self.warnings = 100.0, True, [], []
        self.boundary = SimpleNamespace(
            steady=lambda: self.now,
            read=lambda name, live: live(),
            wrap=lambda name, callback, form: self._recorded(callback, form),
            send=lambda name, message, send: send(),
        )
        self.client = None
        self.rule = ReplacementRule(self, "/cell/arm_controller", given)

    @staticmethod
    def _recorded(callback, form):
        return lambda answer: callback(form.unpack(form.pack(answer)))

    def create_client(self, kind, name):
        assert kind is GetParameters
        self.client = name
        return SimpleNamespace(
            srv_name=name, service_is_ready=lambda: self.there, call_async=self._call
        )

    def _call(self, request):
        self.questions.append(request.names)
        return SimpleNamespace(add_done_callback=self._keep)

    def _keep(self, callback):
        self._callback = callback

    def answer(self, *values):
        response = GetParameters.Response(values=list(values))
        self._callback(SimpleNamespace(result=lambda: response))

    def get_logger(self):
        return SimpleNamespace(warning=self.warnings.append)


@pytest.mark.parametrize(
    ("values", "by_stamp"),
    [([FALSE], True), ([NOT_SET], True), ([], True), ([TRUE], False), ([TEXT], False)],
    ids=["false", "not set", "none", "true", "no bool"],
)
def test_the_controller_is_asked_once(values, by_stamp):
    node = Asking()
    assert node.client == "/cell/arm_controller/get_parameters"
    node.rule.ask()
    assert not node.rule.by_stamp
    node.answer(*values)
    for _ in range(100):
        node.now += 0.2
        node.rule.ask()
    assert node.rule.by_stamp is by_stamp
    assert node.questions == [["allow_trajectory_replacement"]]
    assert len(node.warnings) == (values == [TEXT])


@pytest.mark.parametrize("there", [True, False], ids=["silent", "no service"])
def test_a_controller_that_does_not_answer_is_reported_once(there):
    node = Asking()
    node.there = there
    for count in range(100):
        node.rule.ask()
        assert len(node.warnings) == (0.25 * count > PATIENCE)
        node.now += 0.25
    assert "set the parameter trajectory_replacement" in node.warnings[0]
    assert not node.rule.by_stamp


def test_after_the_report_a_useless_answer_changes_nothing():
    node = Asking()
    node.rule.ask()
    node.now += 2 * PATIENCE
    node.rule.ask()
    node.answer(TEXT)
    node.now += 2 * PATIENCE
    node.rule.ask()
    assert len(node.warnings) == 1


def test_an_answer_counts_however_late():
    node = Asking()
    node.there = False
    node.rule.ask()
    node.now += 2 * PATIENCE
    node.rule.ask()
    node.there = True
    node.rule.ask()
    node.answer(FALSE)
    assert node.rule.by_stamp


def test_a_controller_that_was_gone_is_asked_again():
    node = Asking()
    node.rule.ask()
    node.answer(FALSE)
    node.there = False
    node.rule.ask()
    assert not node.rule.by_stamp, "it may come back with the other rule"
    node.there = True
    node.rule.ask()
    assert len(node.questions) == 2
    node.answer(TRUE)
    assert not node.rule.by_stamp
    assert node.warnings == []


@pytest.mark.parametrize(("given", "by_stamp"), [("allowed", False), ("not_allowed", True)])
def test_a_given_rule_is_not_asked_for(given, by_stamp):
    node = Asking(given)
    node.rule.ask()
    assert node.client is None
    assert node.rule.by_stamp is by_stamp
    node.rule.destroy()


def test_an_answer_is_recorded_with_its_values():
    response = GetParameters.Response(values=[TRUE])
    text = PARAMETER_VALUES.pack(SimpleNamespace(result=lambda: response))
    assert PARAMETER_VALUES.unpack(text).result() == response
