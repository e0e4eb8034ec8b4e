"""A mutant as the deck is measured by it: it kills a case, or does not."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from conformance.runner.dialect import Trial

Half = Literal["public", "seen", "unseen"]


@dataclass(frozen=True)
class Mutant:
    """A mutant of a family; ``fails`` says of a case with its meaning whether it fails, each time from the beginning.

    ``of`` is ``written`` or ``conditional``. One that stands for a ``public`` report is a goal like any clause; of the
    others the digests of their names make two halves, and nothing is chosen by the ``unseen`` one.
    """

    name: str
    family: str
    of: str
    public: bool
    fails: Callable[[Trial], bool]
    about: Callable[[Trial], bool] = lambda one: True

    @property
    def half(self) -> Half:
        """Return the half that it is in."""
        return "public" if self.public else half_of(self.name)


def half_of(name: str) -> Literal["seen", "unseen"]:
    """Return the half that a name is in."""
    return "seen" if hashlib.sha256(name.encode()).digest()[0] % 2 == 0 else "unseen"
