# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters, given at start and set later, and the files that hold them."""

import tempfile
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

from fuzz_inputs import CHARACTERS, any_float, name
from fuzz_messages import check_text

from basis_ik.errors import BasisIkError
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.demo.demo_targets import read_objects, read_targets
from basis_ik.ros.parameters import ik_parameters
from basis_ik.ros.parameters.chain_parameters import ChainParameters, check_apart
from basis_ik.ros.parameters.parameters import Parameters, file_of

URDF = Path(__file__).parents[2] / "urdf"
MODELS = [
    RobotModel.from_urdf((URDF / f"{each}.urdf").read_text()) for each in ("ur5e", "two_arms")
]
DECLARED = {
    each.name: each for each in (*ik_parameters.NODE_PARAMETERS, *ik_parameters.CHAIN_PARAMETERS)
}
CHAIN_KEYS = [each.name for each in ik_parameters.CHAIN_PARAMETERS]
TEXTS = (
    "", "base_link", "tool0", "wrist_3_link", "left_tool0", "right_tool0", "upper_arm_link",
    "descent", "fabrik", "straight", "joint", "position", "joint_trajectory", "unitless", "slow",
)  # fmt: skip


class ParameterNode:
    """What `Parameters` asks of a node: parameters without a ROS around them."""

    def __init__(self, given=()):
        self.values = dict(given)
        self.checks, self.keepers = [], []

    def add_pre_set_parameters_callback(self, _):
        """No change is drawn but those at start, which are taken without it."""

    def add_on_set_parameters_callback(self, callback):
        self.checks.append(callback)

    def add_post_set_parameters_callback(self, callback):
        self.keepers.append(callback)

    def get_fully_qualified_name(self):
        return "/basis_ik"

    def has_parameter(self, name_):
        return name_ in self.values

    def get_parameter(self, name_):
        return SimpleNamespace(value=self.values.get(name_, False))

    def get_parameters_by_prefix(self, _):
        return self.values

    def undeclare_parameter(self, name_):
        del self.values[name_]

    def declare_parameter(self, name_, value, descriptor, ignore_override):
        result = self.set_parameters([SimpleNamespace(name=name_, value=value)])
        assert result.successful, result.reason

    def set_parameters(self, changes):
        for check in self.checks:
            result = check(changes)
            if not result.successful:
                return result
        self.values.update({each.name: each.value for each in changes})
        for keep in self.keepers:
            keep(changes)
        return result


def _value(rng, declaration=None):
    """Return a value of a type that a parameter may have; often of the right one."""
    if declaration is not None and rng.random() < 0.8:
        if isinstance(declaration.default, bool):
            return rng.random() < 0.5
        if isinstance(declaration.default, float):
            low, high = declaration.low, declaration.high
            return any_float(rng) if rng.random() < 0.2 else rng.uniform(low, high)
        if isinstance(declaration.default, str):
            return name(rng, declaration.choices or TEXTS)
        count = rng.choice((0, 1, 3, 6, 6, 7))
        if declaration.element is float:
            low, high = declaration.low, min(declaration.high, rng.choice((1.0, 1e9)))
            odd = rng.choice((0.0, 0.1))
            return [
                any_float(rng) if rng.random() < odd else rng.uniform(low, high)
                for _ in range(count)
            ]
        return [name(rng, TEXTS) for _ in range(count)]
    return rng.choice((
        lambda: rng.random() < 0.5,
        lambda: rng.randint(-(2**63), 2**63 - 1),
        lambda: any_float(rng),
        lambda: name(rng, TEXTS, 0.5),
        lambda: [any_float(rng) for _ in range(rng.randrange(8))],
        lambda: [rng.randint(-5, 5) for _ in range(rng.randrange(8))],
        lambda: [name(rng, TEXTS, 0.5) for _ in range(rng.randrange(8))],
        lambda: [rng.random() < 0.5],
        lambda: None,
    ))()  # fmt: skip


def make_parameters(rng):
    """Values given at start, and changes of one set after another."""

    def some(most):
        names = [name(rng, tuple(DECLARED), 0.03) for _ in range(rng.randrange(most))]
        return [[each, _value(rng, DECLARED.get(each))] for each in names]

    return {
        "given": some(3) if rng.random() < 0.5 else [],
        "sets": [some(4) for _ in range(3)],
        "robot": rng.randrange(len(MODELS)),
    }


def _usable(parameters, model):
    """Make of the parameters of a chain what the node makes of them."""
    own = ChainParameters(parameters, "")
    own.check()
    chain = own.chain(model)
    check_apart({"": chain})
    own.postures(chain)
    own.ray(model, chain)
    own.limits(chain)
    own.units()
    if own["capped_links"]:  # to prepare chains takes long
        own.caps(model, chain)


def run_parameters(case):
    outcomes, model = Counter(), MODELS[case["robot"]]
    node = ParameterNode(case["given"])
    try:
        parameters = Parameters(node)
        parameters.declare(ik_parameters.NODE_PARAMETERS)
        parameters.declare(ik_parameters.CHAIN_PARAMETERS)
        parameters.refuse_unknown()
        _usable(parameters, model)
        outcomes["taken"] += 1
    except BasisIkError as error:
        check_text(str(error))
        outcomes[type(error).__name__] += 1
        node = ParameterNode()
        parameters = Parameters(node)
        parameters.declare(ik_parameters.NODE_PARAMETERS)
        parameters.declare(ik_parameters.CHAIN_PARAMETERS)
    for changes in case["sets"]:
        before = {each: parameters[each] for each in DECLARED}
        changes = [change for change in changes if change[0] in DECLARED]  # rclpy sees to others
        result = node.set_parameters([SimpleNamespace(name=n, value=v) for n, v in changes])
        after = {each: parameters[each] for each in DECLARED}
        if not result.successful:
            check_text(result.reason)
            assert str(before) == str(after), "a refused set has changed something"
            outcomes["refused"] += 1
            continue
        outcomes["taken"] += 1
        for each, declaration in DECLARED.items():
            assert declaration.complaint(after[each]) is None
        try:
            _usable(parameters, model)
        except BasisIkError as error:
            check_text(str(error))
    return outcomes


# Files --------------------------------------------------------------------------------------------

SCALARS = (
    "1", "1.0", ".nan", "-.inf", "true", "~", "''", '"\\u0000"', "2001-99-99", "2001-01-01",
    "12:30:45", "0x1F", "0b1", "1_000", "!!binary x", "!!python/object:os.system x", "*a", "&a b",
    "base_link", "[0.4, 0.1, 0.3]", "[180, 0, 90]", "[.nan, 0, 0]", "[1e400, 0, 0]", "[]", "{}",
    "pose", "follow", "!!set {a}", "!!timestamp x", "? [a]", "<<", "root", "[[1]]", "1e5", "- - -",
    "1:99999999999999999", "9" * 400, "&a {x: *a}",
)  # fmt: skip
TEMPLATES = (
    (URDF.parent / "config" / "demo_targets.yaml").read_text(),
    (URDF.parent / "config" / "demo_ur5e.yaml").read_text(),
    (URDF.parent / "config" / "legs.yaml").read_text(),
    "targets:\n  - {name: NAME, frame: FRAME, xyz: VALUE, rpy: VALUE, kind: VALUE}\n",
    "targets: VALUE\n",
    "VALUE: {ros__parameters: {tip_link: VALUE, VALUE: VALUE}}\n",
    "/**:\n  ros__parameters:\n    tip_link: VALUE\n    left: {home: VALUE, VALUE: VALUE}\n",
)


def make_file(rng):
    text = rng.choice(TEMPLATES)
    for word in ("VALUE", "NAME", "FRAME"):
        while word in text:
            text = text.replace(word, rng.choice(SCALARS), 1)
    for _ in range(rng.choice((0, 1, 1, 3))):
        at = rng.randrange(len(text) + 1)
        new = rng.choice((rng.choice(CHARACTERS), rng.choice(SCALARS), "\n", "  ", ": ", "- "))
        text = text[:at] + new + text[at + rng.randrange(3) :]
    if rng.random() < 0.01:
        text = rng.choice(("[", "{a: ", "- ")) * rng.choice((50, 3000))
    data = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.05:
        data = bytes(rng.getrandbits(8) for _ in range(rng.randrange(40)))
    return list(data)


def run_file(case):
    """Read a file both ways: for where a parameter is given, and for a list of targets."""
    with tempfile.NamedTemporaryFile(dir=tempfile.gettempdir()) as file:
        path = Path(file.name)
        path.write_bytes(bytes(case))
        assert file_of("tip_link", ["x", "--params-file", str(path)]) in (None, str(path))
        try:
            for target in read_targets(path, "base_link"):
                check_text(target.frame)
            for each in read_objects(path, "base_link"):
                check_text(each.header.frame_id)
        except BasisIkError as error:
            check_text(str(error))
            return Counter([type(error).__name__])
    return Counter(taken=1)
