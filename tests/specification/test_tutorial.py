"""Every output of the tutorial is made again; ``python -m tests.specification.test_tutorial`` writes them."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"

BLOCK = re.compile(r"^```(console|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def made_again(page: str) -> str:
    """Return the page with what its commands and lines of Python print now."""
    known: dict[str, Any] = {}
    return BLOCK.sub(lambda block: f"```{block[1]}\n{''.join(_outputs(block[1], block[2], known))}```", page)


def _outputs(kind: str, block: str, known: dict[str, Any]) -> Iterator[str]:
    begin = "$ " if kind == "console" else ">>> "
    for line in block.splitlines():
        if line.startswith(begin):
            said = line.removeprefix(begin)
            yield f"{line}\n"
            yield _command(said) if kind == "console" else _python(said, known)


def _command(line: str) -> str:
    run = f'conformance() {{ {sys.executable} -m conformance "$@" 2>&1; }}; {line}'
    return subprocess.run(["bash", "-c", run], capture_output=True, text=True, check=False).stdout


def _python(line: str, known: dict[str, Any]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(line, "tutorial", "single"), known)
        except Exception as error:  # noqa: BLE001 - what a line raises is what it prints
            return f"{type(error).__name__}: {error}\n"
    return out.getvalue()


def test_every_output_of_the_tutorial_is_made_again() -> None:
    page = PAGE.read_text()
    assert made_again(page) == page, "run: python -m tests.specification.test_tutorial"
    assert len(BLOCK.findall(page)) > 10


if __name__ == "__main__":
    PAGE.write_text(made_again(PAGE.read_text()))
