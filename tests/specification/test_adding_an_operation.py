"""The walk-through of adding an operation works: its files are written into a copy, and its commands are run."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import conformance

PAGE = (Path(__file__).parents[2] / "docs" / "adding-an-operation.md").read_text()
FILES = dict(re.findall(r"^`(conformance/[\w/]+\.py)`:\n\n```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
COMMANDS = re.findall(r"^```console\n\$ conformance ([^\n]*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the package and the files of the page."""
    folder = tmp_path_factory.mktemp("toy")
    package = Path(conformance.__file__).parent
    shutil.copytree(package, folder / "conformance")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


def said(copy: Path, *words: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(copy), "XDG_CACHE_HOME": str(copy / "cache")}
    ended = subprocess.run(
        [sys.executable, "-m", "conformance", *words], cwd=copy, env=env, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_the_operation_is_shown_as_the_page_has_it(copy: Path) -> None:
    line, shown = COMMANDS[0]
    assert len(FILES) == 4
    assert said(copy, *shlex.split(line)) == shown


def test_the_pages_are_written_with_the_operation(copy: Path) -> None:
    said(copy, "spec", "--markdown", "-o", "pages")
    assert "rotate.C2" in (copy / "pages" / "specification.md").read_text()


def test_each_mutant_of_the_page_is_killed_by_its_clause(copy: Path) -> None:
    line, _ = COMMANDS[1]
    rows = json.loads(said(copy, *shlex.split(line), "--json"))["mutants"]
    assert [(row["breaks"], row["killed"]) for row in rows] == [("rotate.C1", True), ("rotate.C2", True)]
