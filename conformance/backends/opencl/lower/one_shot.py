"""One-shot: every device reads all operands where they lie and writes its own result."""

from __future__ import annotations

from conformance.backends.opencl.graph.node import Movement
from conformance.backends.opencl.lower.folds import Folding


def fold(folding: Folding, group: tuple[int, ...], wanted: tuple[int, ...]) -> dict[int, Movement]:
    """Return the end result on every ``wanted`` position, folded there in member order."""
    return {position: folding.of_raw(group[position], folding.raw) for position in wanted}
