# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The guards that `make faults-mutate` takes out are those of the present source."""

from catalogue import ROWS
from mutate import PAGE, found_once, given_for, page
from mutations import MUTATIONS


def test_each_mutation_is_found_once_and_changes_something():
    assert [each.name for each in MUTATIONS if not found_once(each)] == []
    assert all(each.text != each.replacement for each in MUTATIONS)
    names = [each.name for each in MUTATIONS]
    assert len(set(names)) == len(names)


def test_the_tests_of_mutations_exist():
    lost = [m.name for m in MUTATIONS if len(given_for(m.falls)) != len(m.falls) or not m.falls]
    assert lost == []


def test_every_pure_row_has_a_mutation():
    covered = {each for mutation in MUTATIONS for each in mutation.falls}
    pure = [number for number, row in ROWS.items() if row.how == "pure"]
    assert [number for number in pure if number not in covered] == []


def test_the_page_lists_all_mutations():
    assert PAGE.read_text() == page(), "make faults-mutate"
