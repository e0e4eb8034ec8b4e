"""A kind of observations: how many there are to make them of, and how a part of them is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from conformance.qualification.auto.running.pool import At
from conformance.qualification.frozen.observation import FrozenObservation


@dataclass(frozen=True)
class Kind:
    """``make`` gives the observations of a part of ``count()`` cases, mutants or engines, and says where it is.

    A piece has ``size`` of them.
    """

    count: Callable[[], int]
    size: int
    make: Callable[[slice, At], Iterator[FrozenObservation]]
