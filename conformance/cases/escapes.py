"""Text of a backend made harmless for a terminal or a page: what is no character to look at is shown as an escape."""

from __future__ import annotations

import unicodedata
from typing import Final

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories of control, format (bidirectional ones among them) and unassigned characters, and line ends."""


def printable(text: str) -> str:
    """Return ``text`` with control and bidirectional characters escaped, newlines and tabs too."""
    if text.isprintable():
        return text
    return "".join(_escaped(each) if unicodedata.category(each) in _HIDDEN else each for each in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode()
