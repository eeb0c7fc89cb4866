# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What has broken the package once, for ever, and a few new inputs of each kind."""

import random
import re
from collections import Counter
from pathlib import Path

import fuzz_run
import late_run
import pytest
from fuzz_inputs import as_text, bits, from_text, of_bits
from fuzz_messages import LONGEST_TEXT, check_text

KEPT = sorted(fuzz_run.CORPUS.glob("*/*.json"))
SHORT = {"urdf": 300, "parameters": 200, "file": 100, "arm": 160}  # inputs; of others more


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_stored_failures_pass(path):
    fuzz_run.replay(path)


@pytest.mark.parametrize("target", fuzz_run.TARGETS)
def test_inputs_are_accepted_or_refused(target):
    tally = fuzz_run.feed(target, SHORT.get(target, 2000), 0)
    assert tally.outcomes["taken"] > 0
    assert len(tally.outcomes) > 1, "nothing is ever refused"


@pytest.mark.parametrize("target", fuzz_run.TARGETS)
def test_a_case_survives_storage_in_the_corpus(target):
    for seed in range(20):
        case = fuzz_run.TARGETS[target].make(random.Random(seed))
        again = from_text(as_text(case))
        assert as_text(again) == as_text(case)


@pytest.mark.parametrize("pattern", [0x7FF8000000000001, 0xFFF0000000000001, 1, 1 << 63])
def test_stored_numbers_keep_all_bits(pattern):
    assert bits(from_text(as_text([of_bits(pattern)]))[0]) == pattern


@pytest.mark.parametrize(
    "bad",
    ["two\nlines", "\x1b[31m", "\u2028", "x" * (LONGEST_TEXT + 1)],
    ids=["lines", "colour", "separator", "long"],
)
def test_a_text_that_breaks_a_log_is_caught(bad):
    with pytest.raises(AssertionError):
        check_text(bad)


@pytest.fixture
def broken(monkeypatch):
    """A target that fails at some of its inputs."""

    def run(case):
        if case % 10 == 3:
            raise ValueError(case)
        return Counter(taken=1)

    target = fuzz_run.Target("numbers", 1, lambda rng: rng.randrange(1000), run)
    monkeypatch.setitem(fuzz_run.TARGETS, "broken", target)
    return "broken"


def test_a_failure_is_counted_and_its_input_kept(broken, tmp_path, monkeypatch):
    monkeypatch.setattr(fuzz_run, "CORPUS", tmp_path)
    found = []
    tally = fuzz_run.feed(broken, 200, 1, keep=lambda case, _: found.append(case))
    assert tally.inputs == 200
    assert 0 < tally.failures == len(found) < 200
    path = fuzz_run.kept(broken, found[0])
    with pytest.raises(ValueError, match=str(found[0])):
        fuzz_run.replay(path)
    with pytest.raises(AssertionError, match=r"case 'broken 1 \d+' fails"):
        fuzz_run.feed(broken, 200, 1)


def test_a_hanging_case_is_interrupted(monkeypatch):
    monkeypatch.setattr(fuzz_run, "PATIENCE", 0.2)

    def hang():
        with fuzz_run.ending():
            while True:
                pass

    with pytest.raises(TimeoutError):
        hang()


def test_the_page_lists_each_target_and_no_failure():
    text = fuzz_run.PAGE.read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \|(.*)\|$", text, re.MULTILINE))
    assert list(rows) == list(fuzz_run.TARGETS)
    inputs = 0
    for name, row in rows.items():
        what, count, _, _, failures, _ = (each.strip() for each in row.split("|"))
        assert what == fuzz_run.TARGETS[name].what
        assert failures == "0"
        inputs += int(count.replace(",", ""))
    (asked,) = re.findall(r"`make fuzz N=(\d+) SEED=\d+ WRITE=1` has printed", text)
    assert inputs >= int(asked) >= 1_000_000


def test_the_shares_sum_to_one():
    assert sum(target.share for target in fuzz_run.TARGETS.values()) == 100


def test_the_corpus_has_only_existing_targets():
    assert {Path(path).parent.name for path in KEPT} <= set(fuzz_run.TARGETS)


def test_late_messages_are_tried_in_the_same_way_again(monkeypatch):
    monkeypatch.setattr(late_run, "PATTERNS", 2)
    patterns, seconds = late_run.run(1)
    assert [each.complaint for each in patterns] == [""] * late_run.PATTERNS
    assert late_run.run(1) == (patterns, seconds)
    text = late_run.table(patterns)
    counts = [int(row.split("|")[6]) for row in text.splitlines()[2:]]
    assert sum(counts) == late_run.PATTERNS


@pytest.mark.parametrize("bound", ["SPEED", "ACCELERATION", "LEAP"])
def test_late_messages_that_break_a_promise_are_found(bound, monkeypatch):
    monkeypatch.setattr(late_run, "PATTERNS", 1)
    monkeypatch.setattr(late_run, bound, -1.0)
    patterns, _ = late_run.run(1)
    assert {each.complaint for each in patterns} == {"beyond the bounds"}


def test_a_false_status_after_late_messages_is_found(monkeypatch):
    monkeypatch.setattr(late_run, "rests_since", lambda *_: False)
    found = [late_run.run(seed)[0][-1].complaint for seed in (3, 4)]
    assert "it said STOPPED, and moved" in found
