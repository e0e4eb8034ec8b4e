"""What devices hold of a tensor that a program on sharded tensors makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.cases.sharded.placement import Layout
from conformance.cases.tensor.dtypes import Array


@dataclass(frozen=True)
class Held:
    """What devices hold of a tensor, one after the other, and of which elements that is; ``None`` is nothing real.

    ``moved`` are the bytes that went from device to device for the step that made it, its operands' moves among them,
    where the implementation counts them. ``size`` is how many elements it says that the tensor has, ``realized``
    whether it says that the tensor is computed and stored, where there are words for that.
    """

    layout: Layout
    parts: Sequence[Array | None]
    moved: int | None = None
    size: int | None = None
    realized: bool | None = None
