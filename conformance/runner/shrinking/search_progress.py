"""How far the search for the smallest failing cases of one backend is, told at every case that it asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Searching:
    """Of ``failing`` cases of a backend so many are ``explained`` by smallest ones, for which ``asked`` were run."""

    backend: str
    failing: int
    explained: int = 0
    asked: int = 0


class Search:
    """Counts what is asked and explained in the search of one backend."""

    def __init__(self, backend: str, failing: int, tell: Callable[[Searching], None]) -> None:
        """Begin a search with so many ``failing`` cases."""
        self._backend, self._failing, self._tell = backend, failing, tell
        self._explained = self._asked = 0

    def ask(self) -> None:
        """Count a case that is asked for."""
        self._asked += 1
        self._tell(Searching(self._backend, self._failing, self._explained, self._asked))

    def explain(self, cases: int) -> None:
        """Count failing cases that a smallest one stands for."""
        self._explained = min(self._explained + cases, self._failing)
