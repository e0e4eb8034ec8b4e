"""What the documentation says was found in StableHLO's interpreter is what it does, without the adapter."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

pytest.importorskip("jaxlib")

DOCUMENT = (Path(__file__).parents[3] / "docs" / "stablehlo.md").read_text()
FOUND = DOCUMENT.partition("## What was found in jaxlib")[2]
(PRELUDE,) = re.findall(r"```python prelude\n(.*?)```", FOUND, re.DOTALL)
PROGRAMS = re.findall(r"### ([^\n]*)\n\n.*?```python\n(.*?)```", FOUND, re.DOTALL)


def test_every_finding_has_a_program_and_is_of_the_version_that_is_here() -> None:
    assert len(PROGRAMS) == FOUND.count("\n### ") == 4
    assert FOUND.split()[0] == version("jaxlib")


@pytest.mark.parametrize(("name", "program"), PROGRAMS, ids=[name for name, _ in PROGRAMS])
def test_a_program_of_the_document_does_what_it_says(name: str, program: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", f"{PRELUDE}\n{program}"], capture_output=True, text=True, timeout=600, check=False
    )
    # What ends the process is named in the heading; else the program asserts what is wrong.
    dying = re.search("`(.*)`", name)
    assert (ended.returncode, dying is None or dying.group(1) in ended.stderr) == (-6 if dying else 0, True), ended
