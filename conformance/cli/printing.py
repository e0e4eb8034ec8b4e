"""Results on standard output: ``printer`` for people, ``print_json`` for programs."""

from __future__ import annotations

import sys
from typing import Any, Final

import msgspec
from rich.console import Console
from rich.text import Text

from conformance.cases.escapes import printable

WIDE: Final = 200
"""Columns where there is no terminal to tell: a file has room, and a cut name helps nobody."""


class Plain(Console):
    """A console on which words of a backend, a log or a case cannot steer the terminal: lines end, and no more."""

    def render_str(self, text: str, **how: Any) -> Text:
        """Return ``text``, of a line or of the cell of a table, with control characters escaped."""
        return super().render_str("\n".join(map(printable, text.split("\n"))), **how)


def printer() -> Console:
    """Return the console for results: standard output, coloured on a terminal that wants colour."""
    width = None if sys.stdout.isatty() else WIDE
    return Plain(file=sys.stdout, highlight=False, emoji=False, soft_wrap=True, width=width)


def print_json(data: Any) -> None:
    """Print what a command found as JSON on standard output, for programs to read."""
    print(msgspec.json.format(msgspec.json.encode(data)).decode())
