# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Numbers of every bit pattern, names of any characters, times that no clock shows.

All is drawn from a `random.Random`: behind it stands a seed, or hypothesis. A case is what JSON can
hold; `as_text` and `from_text` keep every bit of it, NaN's payload too.
"""

import json
import math
import struct

SPECIAL = (
    0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-300, 1e-16, 1e-9, 1.0, -1.0,
    math.nextafter(1.0, 2.0), math.pi, -math.pi, 2.0 * math.pi, 1e5, math.nextafter(1e5, 2e5), 1e6,
    1e8, math.nextafter(1e8, 2e8), -1e9, 2.0**53, 1e154, 1e200, -1.7976931348623157e308,
    math.inf, -math.inf, math.nan,
)  # fmt: skip
CHARACTERS = (
    "abcxyz019_-./~ '\"\\{}[]<>&%$()#:;,=!?*|`@^+\n\r\t\0\x01\x1b\x7f\x85\xa0\xad\u0301\u0661"
    "\u200b\u202e\u2028\u2029\ufeff\ufffd\xf1\u6f22\U0001f600\U000e0001\ud800\udfff"
)
LENGTHS = (79, 80, 81, 100, 101, 127, 128, 129, 254, 255, 256, 4096)
LONGEST = 1_000_000


def bits(value):
    """Return the 64 bits of a float."""
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def of_bits(pattern):
    """Return the float of 64 bits."""
    return struct.unpack("<d", struct.pack("<Q", pattern))[0]


def any_float(rng):
    """Return any float: all exponents, NaN of all payloads, and what limits are made of."""
    kind = rng.randrange(5)
    if kind == 0:
        return of_bits(rng.getrandbits(64))
    if kind == 1:  # NaN, quiet and signalling, of either sign
        return of_bits(rng.getrandbits(52) | 0x7FF << 52 | rng.getrandbits(1) << 63)
    if kind == 2:  # subnormal
        return of_bits(rng.getrandbits(52) | rng.getrandbits(1) << 63)
    if kind == 3:
        return rng.choice(SPECIAL)
    return rng.uniform(-10.0, 10.0) * 10.0 ** rng.randint(-30, 30)


def number(rng, low, high, odd=0.04):
    """Return a number of a range, or rarely any float at all."""
    return any_float(rng) if rng.random() < odd else rng.uniform(low, high)


def name(rng, known, odd=0.15):
    """Return a name that is known, or rarely any text at all."""
    if rng.random() >= odd:
        return rng.choice(known)
    kind = rng.randrange(6)
    if kind == 0:
        return "".join(rng.choice(CHARACTERS) for _ in range(rng.randrange(12)))
    if kind == 1:  # one that is nearly known
        text = rng.choice(known)
        at = rng.randrange(len(text) + 1)
        return text[:at] + rng.choice(CHARACTERS) + text[at + rng.randrange(2) :]
    if kind == 2:
        return chr(rng.randrange(0x110000)) * rng.choice((1, 1, 1, 90, 300))
    if kind == 3:
        return rng.choice(("", " ", "/", "//", "/" + rng.choice(known), rng.choice(known).upper()))
    if kind == 4 and rng.randrange(20) == 0:
        return rng.choice(CHARACTERS) * LONGEST
    return rng.choice(CHARACTERS) * rng.choice(LENGTHS)


def stamp(rng, now):
    """Return the seconds and nanoseconds of a header, by a clock at `now` [ns] or by none."""
    kind = rng.randrange(12)
    if kind == 0:
        return [rng.randint(-(2**31), 2**31 - 1), rng.getrandbits(32)]
    if kind == 1:
        return [now // 10**9, rng.choice((10**9 - 1, 10**9, 2**32 - 1))]
    if kind == 2:
        return [rng.choice((-1, -(2**31), 2**31 - 1, 0)), rng.choice((0, 1, 10**9 - 1))]
    if kind < 7:
        return [0, 0]
    seconds, nanoseconds = divmod(now + rng.randint(-2_500_000_000, 200_000_000), 10**9)
    return [max(seconds, -(2**31)), nanoseconds]


def _plain(value):
    """Return a case as JSON has it: NaN as its bits."""
    if isinstance(value, float) and math.isnan(value):
        return {"nan": f"{bits(value):016x}"}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value


def as_text(case):
    """Return a case as text."""
    return json.dumps(_plain(case))


def from_text(text):
    """Return the case that a text holds."""

    def whole(found):
        return of_bits(int(found["nan"], 16)) if found.keys() == {"nan"} else found

    return json.loads(text, object_hook=whole)
