# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robot descriptions: random robots, and damaged shipped ones."""

from collections import Counter
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
from fuzz_inputs import CHARACTERS, any_float, name
from fuzz_messages import check_text

from basis_ik.errors import BasisIkError
from basis_ik.robot.robot import RobotModel

SHIPPED = [path.read_text() for path in sorted((Path(__file__).parents[2] / "urdf").glob("*.urdf"))]
KINDS = ("revolute",) * 8 + ("continuous", "prismatic") * 2 + ("fixed", "floating", "planar")
VERSIONS = ("", "", "", "1.0", "1.1", "1.2", "1.3")
TAGS = (
    "link", "joint", "origin", "axis", "limit", "mimic", "parent", "child", "visual", "geometry",
    "box", "mesh", "safety_controller", "robot", "xacro:include", "xacro:property", "transmission",
)  # fmt: skip
NUMBERS = (
    "0", "1", "-1", "0.5", "1e3", "1e-7", "1e-320", "1e99", "1e101", "1e999", "-1e999", "nan",
    "NaN", "inf", "-Infinity", "1_000", "0x10", "1.", ".5", "+1", "--1", "1e", "", " ", "1,5",
    "\u0661", "\uff11", "${pi}", "$(arg x)", "1;2", "9" * 30, "1e6", "1000001", "\u22121",
)  # fmt: skip
JUNK = (
    "<!DOCTYPE robot>", '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>', "<!-- - -->",
    "<?pi x?>", "<![CDATA[ <joint/> ]]>", "&amp;", "&#0;", "&#x110000;", "&lol;", "<a>", "</robot>",
    "\0", "\ufeff", '<?xml version="1.0" encoding="utf-16"?>', "<robot/>", "]]>", "<x:y/>",
    "<" + "a" * 300 + "/>",
)  # fmt: skip


def _number(rng, odd=0.1):
    if rng.random() < odd:
        return rng.choice((rng.choice(NUMBERS), repr(any_float(rng))))
    return rng.choice(("0", "0", "1", "-1", f"{rng.uniform(-3.0, 3.0):.6g}"))


def _numbers(rng, count, odd=0.1):
    if rng.random() < 0.3 * odd:
        count = rng.randrange(6)
    between = rng.choice((",", "\n", ";")) if rng.random() < 0.3 * odd else rng.choice(" \t")
    return between.join(_number(rng, odd) for _ in range(count))


def _element(tag, attributes, inner=""):
    given = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    return f"<{tag}{given}>{inner}</{tag}>" if inner else f"<{tag}{given}/>"


def _rarely_less(rng, attributes, odd):
    return {key: value for key, value in attributes.items() if rng.random() >= 0.2 * odd}


def _joint(rng, own, joints, parent, child, odd, version):
    parts = [
        _element("parent", _rarely_less(rng, {"link": parent}, odd)),
        _element("child", _rarely_less(rng, {"link": child}, odd)),
    ]
    if rng.random() < 0.8:
        place = {"xyz": _numbers(rng, 3, odd), "rpy": _numbers(rng, 3, odd)}
        if rng.random() < (0.2 if version >= "1.1" else odd):
            if rng.random() >= odd:
                del place["rpy"]
            turn = ("0 0 0 1", "0.6 0 -0.8 0", "0 0.7071 0 0.7071", _numbers(rng, 4, odd))
            place["quat_xyzw"] = rng.choice(turn if odd else turn[:3])
        parts.append(_element("origin", _rarely_less(rng, place, odd)))
    if rng.random() < 0.8:
        axis = rng.choice(("1 0 0", "0 0 1", "0 -1 0", _numbers(rng, 3, odd) if odd else "0 1 0"))
        parts.append(_element("axis", _rarely_less(rng, {"xyz": axis}, odd)))
    if rng.random() >= odd:
        low, high = rng.choice((("-3", "3"), ("-1e9", "1e9"), ("-1", _number(rng, odd))))
        limit = {
            "lower": low,
            "upper": high,
            "velocity": _number(rng, odd),
            "effort": _number(rng, odd),
        }
        for rate in ("acceleration", "deceleration", "jerk"):
            if rng.random() < 0.1:
                limit[rate] = _number(rng, odd) if odd else "3"
        if rng.random() < 0.2 * odd:
            limit["odd"] = "1"
        parts.append(_element("limit", _rarely_less(rng, limit, odd)))
    if rng.random() < 0.1:
        tie = {
            "joint": name(rng, joints),
            "multiplier": _number(rng, odd),
            "offset": _number(rng, odd),
        }
        parts.append(_element("mimic", _rarely_less(rng, tie, odd)))
    if rng.random() < 0.1:
        soft = {"soft_lower_limit": _number(rng, odd), "soft_upper_limit": _number(rng, odd)}
        parts.append(_element("safety_controller", soft))
    if rng.random() < 0.3 * odd:
        parts.append(rng.choice(parts))
    rng.shuffle(parts)
    kind = name(rng, KINDS, 0.2 * odd)
    return _element("joint", _rarely_less(rng, {"name": own, "type": kind}, odd), "".join(parts))


def _link(rng, own):
    if rng.random() < 0.7:
        return _element("link", {"name": own})
    shape = rng.choice((
        _element("box", {"size": _numbers(rng, 3)}),
        _element("cylinder", {"radius": _number(rng), "length": _number(rng)}),
        _element("sphere", {"radius": _number(rng)}),
        _element("capsule", {"radius": _number(rng), "length": _number(rng)}),
        _element(
            "mesh", {"filename": name(rng, ("package://x.stl",)), "scale": _numbers(rng, 3)}
        ),
    ))  # fmt: skip
    return _element("link", {"name": own}, _element("visual", {}, _element("geometry", {}, shape)))


def _text_of(text):
    """What XML can hold of a text; the rest is for `_harm`."""
    return "".join(each if each.isprintable() else "?" for each in text[:300]) or "x"


def _robot(rng):
    """A tree of links, mostly a chain, a few of whose parts are wrong."""
    count = rng.choice((0, 1, 2, 3, 6, 6, 7, 12, 40))
    version = rng.choice(VERSIONS)
    odd = rng.choice((0.0, 0.0, 0.02, 0.1))
    links = [_text_of(name(rng, (f"link{k}",), odd)) for k in range(count + 1)]
    joints = [_text_of(name(rng, (f"joint{k}",), odd)) for k in range(count)]
    parts = [_link(rng, link) for link in links]
    for k in range(count):
        parent = links[k if rng.random() < 0.9 else rng.randrange(k + 1)]
        child = links[rng.randrange(count + 1) if rng.random() < 0.2 * odd else k + 1]
        parts.append(_joint(rng, joints[k], joints, parent, child, odd, version))
    if rng.random() < 0.1:
        rng.shuffle(parts)
    given = {"name": _text_of(name(rng, ("robot",)))} | ({"version": version} if version else {})
    return _element("robot", given, "\n".join(parts) or "\n")


def _harm(rng, text):
    """Change a text where it hurts: numbers, names, tags, or anything."""
    at = rng.randrange(len(text) + 1)
    kind = rng.randrange(9)
    if kind == 0:  # an attribute's value
        begin = text.find('="', at) + 2
        end = text.find('"', begin)
        if begin > 1 and end >= 0:
            new = rng.choice((_number(rng), _numbers(rng, 3), name(rng, ("link1", "tool0"))))
            return text[:begin] + new.replace('"', "'").replace("<", "(") + text[end:]
    if kind == 1:
        return text[:at] + rng.choice(JUNK) + text[at:]
    if kind == 2:  # cut short, or from somewhere else
        return text[:at] if rng.random() < 0.5 else text[at:]
    if kind == 3:
        end = at + rng.randrange(200)
        return text[:at] + text[end:]
    if kind == 4:
        end = at + rng.randrange(400)
        return text[:end] + text[at:]
    if kind == 5:
        return text[:at] + rng.choice(CHARACTERS) + text[at + 1 :]
    if kind == 6:
        return text.replace(rng.choice(TAGS), rng.choice(TAGS), rng.randrange(1, 4))
    if kind == 7:  # one line somewhere else
        lines = text.splitlines()
        line = lines.pop(rng.randrange(len(lines))) if lines else ""
        lines.insert(rng.randrange(len(lines) + 1), line)
        return "\n".join(lines)
    new = chr(rng.randrange(0x110000)) * rng.choice((1, 1, 300))
    return text[:at] + new + text[at:]


def _bomb(rng):
    """What grows when it is read, or is too much at once."""
    depth = rng.choice((60, 66, 2000))
    return rng.choice((
        lambda: "<robot>" + "<link>" * depth + "</link>" * depth + "</robot>",
        lambda: "<robot>" + "<joint/>" * 1001 + "</robot>",
        lambda: "<robot>" + "<x/>" * 100_001 + "</robot>",
        lambda: "<robot " + " ".join(f'a{k}="{k}"' for k in range(5000)) + "/>",
        lambda: '<robot name="' + "x" * 1_000_000 + '"/>',
        lambda: "<" + "r" * 1_000_000,
        lambda: '<robot><link name="a"/>' + " " * 4_194_304 + "</robot>",
        lambda: "\n" * 1_000_000 + "<robot/>",
    ))()  # fmt: skip


def make_urdf(rng):
    kind = rng.random()
    if kind < 0.002:
        return {"text": _bomb(rng), "ends": [None, None]}
    text = rng.choice(SHIPPED) if kind < 0.1 else _robot(rng)
    for _ in range(rng.choice((0, 1, 1, 2, 5)) if kind < 0.5 else 0):
        text = _harm(rng, text)
    links = ("link0", "link1", "link3", "base_link", "tool0")
    ends = [None if rng.random() < 0.7 else name(rng, links) for _ in range(2)]
    return {"text": text, "ends": ends}


def run_urdf(case):
    try:
        model = RobotModel.from_urdf(case["text"])
    except BasisIkError as error:
        check_text(str(error))
        return Counter([type(error).__name__])
    for note in model.notes:
        check_text(note)
    for joint in model.joints.values():
        check_text(joint.fault)
        for line in joint.assumed:
            check_text(line)
    assert len(model.links) == len(set(model.links)) == len(model.joints) + 1
    try:
        chain = model.chain(*case["ends"])
    except BasisIkError as error:
        check_text(str(error))
        return Counter([type(error).__name__])
    assert all(line.isprintable() for line in chain.inferences)
    assert (chain.lower <= chain.upper).all()
    assert (chain.velocity > 0.0).all()
    assert not np.isnan(chain.velocity).any()
    middle = np.clip(np.zeros(len(chain.lower)), chain.lower, chain.upper)
    place = chain.forward(middle).matrix
    assert np.isfinite(place).all()
    assert np.allclose(place[:3, :3] @ place[:3, :3].T, np.eye(3), atol=1e-6)
    model.visuals_of(chain)
    return Counter(taken=1)
