"""The texts about published findings are whole, and their scripts are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "reports" / "findings"
TEXTS = sorted(path.name for path in FOLDER.glob("*.md") if path.name != "README.md")


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_has_all_parts_and_a_script_that_is_there(name: str) -> None:
    text = (FOLDER / name).read_text()
    assert re.findall(r"^\*\*(.*?)\.\*\*", text, re.MULTILINE)[:4] == ["Versions", "Script", "Expected", "Observed"]
    scripts = re.findall(r"\]\(\.\./scripts/(.*?)\)", text)
    assert len(scripts) == 1
    assert (FOLDER.parent / "scripts" / scripts[0]).is_file(), "the reports were made again: name the new script"


def test_the_index_lists_every_text() -> None:
    listed = re.findall(r"\]\((.*?\.md)\)", (FOLDER / "README.md").read_text())
    assert sorted(listed) == TEXTS
