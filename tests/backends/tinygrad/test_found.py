"""What the documentation says was found in tinygrad is what tinygrad does, without the adapter."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pytest

from conformance.backends.tinygrad import TinyGrad

DOCUMENT = (Path(__file__).parents[3] / "docs" / "schedules.md").read_text()
FOUND = DOCUMENT.partition("## What was found in tinygrad")[2].partition("\n## ")[0]
PROGRAMS = re.findall(r"### ([^\n]*)\n\n```python\n(.*?)```", FOUND, re.DOTALL)


def test_every_finding_has_a_program_and_is_of_the_version_that_is_here(tinygrad: TinyGrad) -> None:
    assert len(PROGRAMS) == FOUND.count("\n### ") > 6
    assert FOUND.split()[0] == version("tinygrad")


@pytest.mark.parametrize("program", [text for _, text in PROGRAMS], ids=[name for name, _ in PROGRAMS])
def test_a_program_of_the_document_does_what_it_says(tinygrad: TinyGrad, program: str) -> None:
    from tinygrad import Tensor, UOp

    exec(compile(program, "docs/schedules.md", "exec"), {"Tensor": Tensor, "UOp": UOp})
