"""What a backend did with a case: values for each rank, or errors, and which inputs it changed."""

from __future__ import annotations

from typing import Annotated, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta

from conformance.cases.schedule.schedule import Schedule
from conformance.cases.sharded.placement import Layout
from conformance.cases.tensor.tensor import Tensor
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.lowered import Lowered

B = TypeVar("B")

Seconds = Annotated[float, Meta(ge=0, le=1e9)]
"""How long something took. Thirty years are enough for anything; sums of what was larger would not be finite."""

Category = Literal["invalid_argument", "unsupported", "internal", "no_answer", "adapter"]


class RankError(msgspec.Struct, frozen=True, kw_only=True):
    """An exception on one rank: its class name, its message, and what kind of complaint it is.

    ``no_answer`` is none of the implementation's: the rank hung, or its process ended, and whoever ran it says so.
    ``adapter`` is none of its either: lines raised that stand between it and this suite.
    """

    kind: str
    message: str
    category: Category


class Touched(msgspec.Struct, frozen=True, kw_only=True):
    """An input whose storage is not what it was, or a buffer around whose elements it is not.

    ``index`` is the first changed storage element. Where a program raised, on whichever rank, a buffer may have changed
    ``inside``: one of its elements is not what it began with.
    """

    input: str
    rank: int
    index: int
    before: str
    after: str
    inside: bool = False


class Answered(msgspec.Struct, Generic[B], frozen=True, kw_only=True):
    """What happened, with results of blocks of some kind: tensors, or what a file has of them.

    ``results`` has one block (or ``None``) a rank for each result the program names.

    ``health`` is what happened afterwards to the small program of ``cases.program.health``, where it was run.
    ``schedule`` is what was made of a program or a graph where that was asked, instead of running it.
    ``types`` are those of the values of a typed program, by name, ``lowered`` what its steps are lowered to.
    ``layouts`` say of each result of a program on sharded tensors which of its elements the devices hold, ``moved``
    how many bytes went from device to device in the step that made it, where that is counted, ``sizes`` how many
    elements the implementation says that it has, and ``realized`` whether it says that it is computed and stored.
    """

    results: dict[str, tuple[B | None, ...]] = {}
    errors: tuple[RankError | None, ...] = ()
    touched: tuple[Touched, ...] = ()
    seconds: Seconds = 0.0
    health: Observation | None = None
    schedule: Schedule | None = None
    types: dict[str, AxisType] = {}
    layouts: dict[str, Layout] = {}
    moved: dict[str, int] = {}
    sizes: dict[str, int] = {}
    realized: dict[str, bool] = {}
    lowered: tuple[Lowered, ...] = ()

    @property
    def raised(self) -> bool:
        """Return whether any rank raised."""
        return any(self.errors)

    @property
    def refused(self) -> bool:
        """Return whether any rank refused: who gives no answer, or whose process ended, has refused nothing."""
        return any(error is not None and error.category != "no_answer" for error in self.errors)


class Observation(Answered[Tensor], frozen=True, kw_only=True):
    """What happened, with one tensor (or ``None``) a rank for each result the program names."""


class Joint(Observation, frozen=True, kw_only=True):
    """What happened to cases that were asked about ``together``, to each of them, in order."""

    together: tuple[Observation, ...] = ()
