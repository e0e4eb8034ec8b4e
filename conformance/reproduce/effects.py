"""Steps that are no collectives, in NumPy's words: the storage of buffers and views is NumPy's in every script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.cases.program.effects import Named
from conformance.cases.program.program import Step


def storage_of(name: str) -> str:
    """Return the variable that has the array behind a buffer or view."""
    return f"{name}_array"


def window_of(step: Step) -> str:
    """Return the expression of the view that a ``view`` step names."""
    # A view's attributes are lists of integers, by ``names``.
    attrs: dict[str, Any] = dict(step.attrs)
    parts = [range(*each) for each in zip(attrs["start"], attrs["stop"], attrs["step"], strict=True)]
    slices = "".join(f"{_slice(part)}, " for part in parts)
    order = tuple(attrs.get("order", ()))
    return f"{storage_of(step.inputs[0])}[({slices}...)]" + (f".transpose({order})" if order else "")


def aliased(step: Step, table: Mapping[str, Named]) -> list[tuple[str, str]]:
    """Return the outputs of a collective or ``done`` that are storage, each with the name whose array that is."""
    known = step.into or step.inputs
    pairs = zip(step.outputs, known, strict=False)
    return [(made, old) for made, old in pairs if table[made].base]


def _slice(part: range) -> str:
    if not part:
        return "slice(0, 0)"
    stop = part[-1] + part.step
    return f"slice({part.start}, {None if stop < 0 else stop}, {part.step})"
