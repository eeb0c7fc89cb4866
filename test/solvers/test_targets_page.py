"""The examples of docs/targets.md run."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_examples_run_one_after_another(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "targets.md").read_text()
    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(examples) == 9
    room: dict[str, object] = {}
    for example in examples:
        exec(example, room)
    assert "thigh" in capsys.readouterr().out


def test_every_function_of_the_table_is_there():
    import basis_ik.solvers as solvers

    page = (ROOT / "docs" / "targets.md").read_text()
    text = "".join(path.read_text() for path in Path(*solvers.__path__).glob("*.py"))
    names = set(re.findall(r"`(solve_\w+)`", page))
    assert len(names) >= 5
    for name in names:
        assert f"def {name}(" in text
