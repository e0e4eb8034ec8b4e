"""How much a document that is handed in may ask for, of time or of memory: known before any of it is taken.

Counts are upper bounds, made of the text of a document alone, sound or not.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from conformance.cases.case_error import CaseError

NamedAmount = tuple[str, int]
"""What asks for something, in words, and for how much at most."""

_SPENT: Final[ContextVar[dict[str, int] | None]] = ContextVar("spent", default=None)
"""What the documents that are read as one have asked for so far, by the variable of the limit."""


@dataclass(frozen=True)
class Limit:
    """What a document may ask for: ``most``, where the environment says nothing else in ``variable``.

    ``unit`` is what the variable counts, ``shown`` an amount in words, and ``told`` the error for a part that is too
    much, with ``{where}``, ``{total}`` and ``{most}``.
    """

    variable: str
    unit: str
    most: int
    shown: Callable[[int], str]
    told: str

    def allowed(self) -> int:
        """Return how much a document may ask for; raise ``CaseError`` where the environment says no number."""
        said = os.environ.get(self.variable)
        if said is None:
            return self.most
        if not (said.isascii() and said.isdigit() and 0 < len(said) < 20 and int(said)):
            raise CaseError(
                f"{self.variable} is {said!r:.80}; it should be a number of {self.unit}, such as {self.most}"
            )
        return int(said)

    def check(self, parts: Iterable[NamedAmount]) -> None:
        """Raise ``CaseError`` where the parts of a document ask for too much together; it names the first too much."""
        spent = _SPENT.get()
        total, most = spent.get(self.variable, 0) if spent is not None else 0, self.allowed()
        for where, size in parts:
            total += size
            if total > most:
                told = self.told.format(where=where, total=self.shown(total), most=self.shown(most))
                raise CaseError(f"{told}; {self.variable}={self.unit.upper()} in the environment allows more")
        if spent is not None:
            spent[self.variable] = total


@contextmanager
def together() -> Iterator[None]:
    """Let all documents that are read within ask for no more together than one of them may alone."""
    token = _SPENT.set({})
    try:
        yield
    finally:
        _SPENT.reset(token)
