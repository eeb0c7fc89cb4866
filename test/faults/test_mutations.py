# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

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
