"""How long a name may be that messages quote."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from conformance.cases.case_error import CaseError

LONGEST_NAME: Final = 256
"""Characters of a name or a word of a program: every message quotes some."""


def check_names(names: Iterable[str]) -> None:
    """Raise ``CaseError`` for a name that is too long to be quoted."""
    for name in names:
        if len(name) > LONGEST_NAME:
            raise CaseError(f"{name[:40]!r}… has {len(name)} characters; a name has at most {LONGEST_NAME}")
