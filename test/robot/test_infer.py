# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Root and tip are inferred if one arm is obvious, and only then."""

from itertools import pairwise

import pytest

from basis_ik.robot.joint_path import ChainError
from basis_ik.robot.robot import RobotModel


@pytest.fixture
def build(joint, robot):
    """A robot from lines 'parent kind:name=master child'.

    The kind is one letter; `=master` is for mimic joints, `=-master` if they move against it.
    """
    kinds = {"f": "fixed", "r": "revolute", "c": "continuous", "p": "prismatic", "o": "floating"}

    def build(lines):
        joints = []
        for i, line in enumerate(lines.split("\n")):
            if not line.strip():
                continue
            parent, how, child = line.split()
            kind, _, name = how.partition(":")
            name, _, master = name.partition("=")
            sign = "-1" if master.startswith("-") else "1"
            mimic = f'<mimic joint="{master.lstrip("-")}" multiplier="{sign}"/>'
            inside = mimic if master else ""
            joints.append(joint(name or f"joint{i}", parent, child, kinds[kind], inside))
        return RobotModel.from_urdf(robot(*joints))

    return build


def serial(root, count, last, prefix="link", how="r"):
    """Lines of `count` joints in a row from root to last."""
    links = [root, *(f"{prefix}{i}" for i in range(1, count)), last]
    return "\n".join(f"{a} {how} {b}" for a, b in pairwise(links))


def seventh(wrist, joint, link):
    """Six joints to a wrist, and one more."""
    return f"{serial('base', 6, wrist)}\n{wrist} r:{joint} {link}"


UR = f"""
world f base_link
base_link f base
base_link f base_link_inertia
{serial("base_link_inertia", 6, "wrist_3_link")}
wrist_3_link f ft_frame
wrist_3_link f flange
flange f tool0
"""
PANDA = f"""
{serial("panda_link0", 7, "panda_link7", "panda_link")}
panda_link7 f panda_link8
panda_link8 f panda_hand
panda_hand f panda_hand_tcp
panda_hand p:panda_finger_joint1 panda_leftfinger
panda_hand p:panda_finger_joint2=panda_finger_joint1 panda_rightfinger
"""
IIWA = f"""
world f iiwa_link_0
{serial("iiwa_link_0", 7, "iiwa_link_7", "iiwa_link_")}
iiwa_link_7 f iiwa_link_ee
"""
XARM = f"""
{serial("link_base", 7, "link7")}
link7 f link_eef
link_eef f link_tcp
"""
GEN3 = f"""
{serial("base_link", 7, "bracelet_link", how="c")}
bracelet_link f end_effector_link
bracelet_link f camera_link
camera_link f camera_color_frame
end_effector_link f robotiq_base
robotiq_base r:finger_joint left_knuckle
robotiq_base r:right_knuckle_joint=finger_joint right_knuckle
left_knuckle r:inner=finger_joint left_pad
"""
FETCH = f"""
base_link c r_wheel
base_link c l_wheel
base_link p:torso_lift torso
torso r:head_pan head
head r:head_tilt camera
{serial("torso", 7, "wrist_roll", "arm")}
wrist_roll f gripper_link
gripper_link p:r_gripper_finger_joint r_finger
gripper_link p:l_gripper_finger_joint=r_gripper_finger_joint l_finger
"""
HAND = f"""
base f arm0
{serial("arm0", 6, "wrist")}
wrist f palm
{serial("palm", 4, "tip_a", "a")}
{serial("palm", 4, "tip_b", "b")}
{serial("palm", 4, "tip_c", "c")}
"""
UNNAMED_GRIPPER = f"""
{serial("base", 3, "wrist")}
wrist p:g1 a
wrist p:g2=-g1 b
"""
ONE_JAW = f"""
{serial("base", 5, "gripper")}
gripper r:gripper jaw
"""
FINGER_ROBOT = """
base_link r:finger_base_joint a
a r:finger_middle_joint b
b r:finger_tip_joint tip
"""
SPOT = f"""
{serial("body", 3, "foot_a", "a")}
{serial("body", 3, "foot_b", "b")}
{serial("body", 6, "wrist", "arm")}
"""
PAN_TILT = """
base_footprint f base_link
base_link r:pan pan_link
pan_link r:tilt tilt_link
tilt_link f camera_link
camera_link f camera_optical_frame
"""
DRONE = f"""
world o:free base_link
{serial("base_link", 3, "grip")}
"""
TELESCOPE = """
base p:lift stage1
stage1 p:follow=lift stage2
stage2 f tip_plate
"""
LINKAGE = """
base r:a upper
upper r:b forearm
base r:rod=a rod_link
rod_link r:rod2=b triangle
forearm f flange
"""
SHOULDER_ROD = """
base r:turn column
column r:shoulder upper
upper r:elbow forearm
column r:rod=shoulder rod_link
"""
ELBOW_ROD = """
base r:turn column
column r:shoulder upper
upper r:elbow forearm
upper r:rod=elbow rod_link
"""
CYLINDER = """
base r:turn column
column r:shoulder upper
upper r:elbow forearm
column r:cylinder=-shoulder barrel
"""
FRANKA = f"""
{serial("fr3_link0", 7, "fr3_link7", "fr3_link")}
fr3_link7 f fr3_link7_sc
fr3_link7 f fr3_link8
"""
WRIST_CAMERA = f"""
{serial("base", 6, "link6")}
link6 f camera_link
link6 p:finger_joint left
"""
HSR = f"""
base_footprint f base_link
base_link c:roll swivel
swivel c:drive_l left_wheel
swivel c:passive_l left_passive_wheel_x
left_passive_wheel_x c:passive_l2 left_passive_wheel_y
left_passive_wheel_y c:passive_l3 left_passive_wheel_z
base_link p:torso torso
{serial("base_link", 5, "hand_palm_link", "arm")}
"""
TURTLE_WITH_ARM = f"""
base_link c:a wheel_left
base_link c:b wheel_right
base_link c:c swivel
swivel c:d caster
{serial("base_link", 2, "flange")}
"""
R2D2 = """
base_link c:a wheel_left
base_link c:b wheel_right
base_link p:extension gripper_pole
gripper_pole r:left_finger l
gripper_pole r:right_finger r
"""
EYE_BEYOND_A_HAND = f"""
{serial("base", 3, "middle")}
middle p:finger_joint left
{serial("middle", 4, "head", "m")}
head f camera_link
"""
TWO_TOOLS = f"""
{serial("base", 3, "wrist")}
wrist f changer_tool
changer_tool f welding_tool
"""
SENSORS = f"""
{serial("base", 3, "wrist")}
wrist f left_bumper
wrist f right_bumper
"""

GRIPPER_YAW = f"""
{serial("base", 5, "forearm")}
forearm r:LeftGripperYaw palm
palm p:left_gripper_jaw jaw_a
palm p:right_gripper_jaw=left_gripper_jaw jaw_b
"""
WRIST_OF_A_GRIPPER = f"""
{serial("base", 5, "forearm")}
forearm r:gripper_link_roll_joint gripper_base
"""
ROLLER = f"""
{serial("base", 5, "wrist")}
wrist r:gripper_roller roller
"""
# A thumb of four joints beside fingers of two, by name (a gripper) and without one (a hand).
THUMB = f"""
{serial("base", 5, "wrist")}
wrist f palm
palm r:thumb_turn t1
t1 r:thumb_lift t2
t2 r:thumb_bend t3
t3 r:thumb_end thumb_tip
palm r:{{0}}_a a1
a1 r:{{0}}_a2 a_tip
palm r:{{0}}_b b1
b1 r:{{0}}_b2 b_tip
"""


@pytest.mark.parametrize(
    ("lines", "root", "tip", "count"),
    [
        (UR, "base_link", "tool0", 6),
        (PANDA, "panda_link0", "panda_hand_tcp", 7),
        (IIWA, "iiwa_link_0", "iiwa_link_ee", 7),
        (XARM, "link_base", "link_tcp", 7),
        (GEN3, "base_link", "end_effector_link", 7),
        (FETCH, "base_link", "gripper_link", 8),
        (HAND, "base", "palm", 6),
        (UNNAMED_GRIPPER, "base", "wrist", 3),
        (ONE_JAW, "base", "gripper", 5),
        (FINGER_ROBOT, "base_link", "tip", 3),
        (SPOT, "body", "wrist", 6),
        (PAN_TILT, "base_link", "camera_optical_frame", 2),
        (DRONE, "base_link", "grip", 3),
        (TELESCOPE, "base", "tip_plate", 1),
        (LINKAGE, "base", "flange", 2),
        (SENSORS, "base", "wrist", 3),
        (GRIPPER_YAW, "base", "palm", 6),
        (WRIST_OF_A_GRIPPER, "base", "gripper_base", 6),
        (ROLLER, "base", "wrist", 5),
        (SHOULDER_ROD, "base", "forearm", 3),
        (ELBOW_ROD, "base", "forearm", 3),
        (CYLINDER, "base", "forearm", 3),
        (seventh("hand", "joint7", "gripper-moving-part"), "base", "hand", 6),
        (seventh("wrist", "joint7", "jaw"), "base", "wrist", 6),
        (seventh("arm_link_wr1", "arm_f1x", "arm_link_fngr"), "base", "arm_link_wr1", 6),
        (seventh("link6", "joint7", "Fixed_Jaw"), "base", "Fixed_Jaw", 7),
        (seventh("link6", "joint7", "claw_base"), "base", "claw_base", 7),
        (seventh("link6", "wrist_roll", "jaw_link"), "base", "jaw_link", 7),
        (FRANKA, "fr3_link0", "fr3_link8", 7),
        (WRIST_CAMERA, "base", "link6", 6),
        (HSR, "base_link", "hand_palm_link", 5),
        (TURTLE_WITH_ARM, "base_link", "flange", 2),
        (R2D2, "base_link", "gripper_pole", 1),
        (EYE_BEYOND_A_HAND, "base", "camera_link", 7),
        (TWO_TOOLS, "base", "welding_tool", 3),
        (THUMB.format("finger"), "base", "palm", 5),
        (THUMB.format("index"), "base", "palm", 5),
        ("world c:j body", "world", "body", 1),
        ("world f stand\nstand c:j body", "stand", "body", 1),
    ],
    ids=[
        "UR", "Panda", "iiwa", "xArm", "Gen3", "Fetch", "hand", "unnamed gripper", "one jaw",
        "finger robot", "Spot", "pan-tilt", "drone", "telescope", "linkage", "sensors",
        "gripper yaw", "gripper roll", "a roller", "rod of a shoulder", "rod of an elbow",
        "cylinder", "moving part", "jaw", "fngr", "fixed jaw", "claw's base", "a wrist's jaw",
        "Franka", "eye beside a hand", "HSR", "wheels and an arm", "R2D2",
        "eye beyond a hand", "two tools", "thumb and fingers", "thumb and others",
        "one joint", "a stand",
    ],
)  # fmt: skip
def test_one_obvious_arm_is_found(build, lines, root, tip, count):
    chain = build(lines).chain()
    assert (chain.root, chain.tip, len(chain.joint_names)) == (root, tip, count)
    assert any(line.startswith(f"root {root}: ") for line in chain.inferences)
    assert any(line.startswith(f"tip {tip}: ") for line in chain.inferences)


@pytest.mark.parametrize(("turned", "fixed"), [(3.14, 0.0), (0.0, 3.14)], ids=["jaw", "mount"])
def test_jaws_that_are_turned_against_each_other_are_a_gripper(joint, robot, turned, fixed):
    urdf = robot(
        joint("elbow", "base", "wrist"),
        joint("mounting", "wrist", "mount", "fixed", origin=f'rpy="0 0 {fixed}"'),
        joint("g1", "wrist", "a", "prismatic"),
        joint("g2", "mount", "b", "prismatic", '<mimic joint="g1"/>', origin=f'rpy="0 0 {turned}"'),
    )
    assert RobotModel.from_urdf(urdf).chain().joint_names == ("elbow",)


JAWS = f"""
{serial("base", 5, "wrist")}
wrist r:left_jaw a
a r:left_jaw_end a_tip
wrist r:right_jaw b
b r:right_jaw_end b_tip
"""
LONG_JAWS = f"""
{JAWS}
a_tip r:left_jaw_more a_end
b_tip r:right_jaw_more b_end
"""
TWICE = f"""
{serial("base", 6, "grip", "a")}
{serial("base", 3, "eye", "n")}
"""
AS_LONG = f"""
{serial("base", 3, "wrist")}
{serial("wrist", 3, "tip_a", "a")}
{serial("wrist", 3, "tip_b", "b")}
"""
LONGER = f"""
{serial("base", 3, "wrist")}
{serial("wrist", 4, "tip_a", "a")}
{serial("wrist", 4, "tip_b", "b")}
"""
HALF = f"""
{serial("base", 6, "long", "a")}
{serial("base", 4, "middle", "b")}
{serial("base", 3, "short", "c")}
"""


@pytest.mark.parametrize(
    ("lines", "tip", "said"),
    [
        (TWICE, "grip", "excluded, shorter than the arm: joint7"),
        (AS_LONG, "wrist", "excluded as a hand: joint4, joint7"),
        (JAWS, "wrist", "excluded as a gripper: left_jaw, right_jaw"),
        (LONG_JAWS, "wrist", "excluded as a hand: left_jaw, right_jaw"),
    ],
    ids=["exactly twice", "a hand as long as its arm", "two joints", "three joints"],
)
def test_the_borders_of_what_is_obvious(build, lines, tip, said):
    """At least twice as many joints; no more than the arm; at most two."""
    chain = build(lines).chain()
    assert chain.tip == tip
    assert any(line.startswith(said) for line in chain.inferences), chain.inferences


@pytest.mark.parametrize(
    ("lines", "candidates"),
    [(LONGER, ("tip_a", "tip_b")), (HALF, ("long", "middle"))],
    ids=["branches longer than the arm", "half as long is none"],
)
def test_the_borders_of_what_is_not(build, lines, candidates):
    with pytest.raises(ChainError, match="no single obvious arm") as caught:
        build(lines).chain()
    assert caught.value.candidates == candidates


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (PANDA, "excluded as a gripper: panda_finger_joint1"),
        (HAND, "excluded as a hand: joint"),
        (FETCH, "excluded as wheels: joint1, joint2"),
        (FETCH, "excluded, shorter than the arm: head_pan"),
        (DRONE, "the chain begins below floating joint free"),
    ],
    ids=["gripper", "hand", "wheels", "head", "drone"],
)
def test_excluded_branches_are_noted(build, lines, said):
    assert any(line.startswith(said) for line in build(lines).chain().inferences)


TWO_ARMS = f"""
base_link c:wheel_a wheel_a
base_link p:torso torso
{serial("torso", 7, "left_hand", "l")}
{serial("torso", 7, "right_hand", "r")}
torso r:head_pan head
head r:head_tilt eye
"""

WHEELED_LEGS = """
pelvis r:hip_a thigh_a
thigh_a r:knee_a shin_a
shin_a c:roll_a wheel_a
pelvis r:hip_b thigh_b
thigh_b r:knee_b shin_b
shin_b c:roll_b wheel_b
"""


@pytest.mark.parametrize(
    ("lines", "candidates", "said"),
    [
        (TWO_ARMS, ("left_hand", "right_hand"), "'left_hand' (8 joints), 'right_hand' (8 joints)"),
        ("base r:a left_lid\nbase r:b right_lid", ("left_lid", "right_lid"), "(1 joint), "),
        (
            "base c:a wheel\nbase c:b lidar",
            ("lidar",),
            "below 'base'; name the tip: 'lidar' (1 joint)",
        ),
        (WHEELED_LEGS, ("shin_a", "shin_b"), "'shin_a' (2 joints)"),
        (f"{serial('b', 3, 'x', 'x')}\n{serial('b', 2, 'y', 'y')}", ("x", "y"), "(3 joints), 'y'"),
    ],
    ids=["two arms", "one joint each", "one joint on wheels", "legs on wheels", "a little longer"],
)
def test_without_an_obvious_arm_the_candidates_are_listed(build, lines, candidates, said):
    with pytest.raises(ChainError, match="no single obvious arm") as caught:
        build(lines).chain()
    assert caught.value.candidates == candidates
    assert said in str(caught.value)


HANDS = {
    "thumb": """
palm r:thumb_yaw thumb_base
thumb_base r:thumb_pitch thumb_tip
palm r:index_q index_tip
palm r:ring_q ring_tip
""",
    "named by its links": """
palm r:q0 thumb_base
thumb_base r:q1 thumb_tip
palm r:q2 index_tip
palm r:q3 ring_tip
""",
}


@pytest.mark.parametrize("lines", HANDS.values(), ids=HANDS)
def test_the_thumb_of_a_hand_is_no_arm(build, lines):
    with pytest.raises(ChainError, match="no single obvious arm below 'palm'") as caught:
        build(lines).chain()
    assert caught.value.candidates == ("thumb_tip", "index_tip", "ring_tip")
    assert build(lines).chain(tip="thumb_tip").joint_names[-1] in ("thumb_pitch", "q1")


def test_a_tree_of_many_arms_does_not_flood_the_message(build):
    lines = "\n".join(f"base r tip_{i}" for i in range(500))
    with pytest.raises(ChainError, match="and 492 more") as caught:
        build(lines).chain()
    assert len(caught.value.candidates) == 500
    assert len(str(caught.value)) < 400


def test_naming_one_end_is_enough(build):
    model = build(TWO_ARMS)
    chain = model.chain(tip="left_hand")
    assert (chain.root, len(chain.joint_names)) == ("base_link", 8)
    assert chain.inferences == ("root base_link: by its name among the links that do not move",)
    with pytest.raises(ChainError, match="no single obvious arm below 'torso'"):
        model.chain(root="torso")
    chain = model.chain(root="r1")
    assert (chain.tip, len(chain.joint_names)) == ("right_hand", 6)
    assert [line[:14] for line in chain.inferences] == ["tip right_hand"]


def test_two_named_ends_leave_nothing_to_infer(build):
    assert build(UR).chain("base_link", "tool0").inferences == ()


@pytest.mark.parametrize("lines", ["a f b", "a o:free b"])
def test_without_a_moving_joint_there_is_no_arm(build, lines):
    with pytest.raises(ChainError, match="no joint moves below 'a'; there is no arm"):
        build(lines).chain()


@pytest.mark.parametrize(
    "lines",
    [
        "b c:j left_wheel\nb c:wheel_right x",
        "b c:caster_j x\nx c:k wheel",
        "b r:steer x\nx c:k wheel",
    ],
    ids=["wheels", "caster", "steering"],
)
def test_wheels_are_no_arm(build, lines):
    with pytest.raises(ChainError, match="only wheels move below 'b'; there is no arm") as caught:
        build(lines).chain()
    assert caught.value.candidates == ()
    assert build(lines).chain(tip=lines.split()[-1]).root == "b"


@pytest.mark.parametrize("prefix", ["arm1_", "arm1/", "arm1-", "arm1.", "arm1"])
@pytest.mark.parametrize(
    ("lines", "root", "tip"),
    [
        (UR, "base_link", "tool0"),
        (GEN3.replace("end_effector_link", "EndEffector_Link"), "base_link", "EndEffector_Link"),
        ("world f stand\nstand c:j body", "stand", "body"),
        (GRIPPER_YAW.replace("LeftGripperYaw", "gripper-yaw"), "base", "palm"),
    ],
    ids=["UR", "Gen3", "a stand", "gripper yaw"],
)
def test_a_prefix_changes_nothing(build, lines, root, tip, prefix):
    rows = [line.split() for line in lines.split("\n") if line]
    prefixed = "\n".join(f"{prefix}{parent} {how} {prefix}{child}" for parent, how, child in rows)
    chain = build(prefixed).chain()
    assert (chain.root, chain.tip) == (prefix + root, prefix + tip)


def test_below_the_last_joint_there_is_no_arm(build):
    with pytest.raises(ChainError, match="no joint moves below 'flange'"):
        build(UR).chain(root="flange")


def test_a_comb_of_branches_ends(build):
    """Each link of a long chain has another long chain, which reveals slow or deep recursion."""
    spine = serial("s0", 30, "s30", "s")
    teeth = "\n".join(serial(f"s{i}", 20, f"t{i}_end", f"t{i}_") for i in range(1, 30))
    with pytest.raises(ChainError, match="no single obvious arm"):
        build(f"{spine}\n{teeth}").chain()
