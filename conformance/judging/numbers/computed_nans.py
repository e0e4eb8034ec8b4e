"""Which NaNs of a program's results arithmetic made: each of these may be any NaN, and every other keeps its bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from conformance.cases.case import Case
from conformance.cases.program.program import Step
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.judging.numbers.evaluated_with import differing, evaluated_with
from conformance.reference.effects import Effects, Ranks
from conformance.reference.operations import OPERATIONS
from conformance.reference.spmd import ATTRIBUTES

REDUCING: Final = tuple(name for name in OPERATIONS if "op" in ATTRIBUTES[name])
"""The operations that compute; every other one moves what it is given."""

Masks = Mapping[str, Sequence[Array | None]]
"""By result and rank which elements, as bools in the shape of the block; ``None`` where a rank has no meaning."""


def computed_nans(case: Case) -> Masks:
    """Return which elements of the results hold, in some part, a NaN that a reduction or a step that computes made.

    The program is evaluated with one NaN in the place of all of these, and with another: what is made of them by moving
    them, by writing them and by ``where`` is then another NaN, element by element. Ranks that cannot go on have none.
    """
    one, other = (_with_nans(case, negative=negative) for negative in (False, True))
    return {
        name: [
            None if block is None or beside is None else differing(block, beside)
            for block, beside in zip(blocks, other[name], strict=True)
        ]
        for name, blocks in one.items()
    }


def _with_nans(case: Case, *, negative: bool) -> dict[str, list[Array | None]]:
    operations = {name: partial(_reduced, name, negative) for name in REDUCING}
    return evaluated_with(case, operations, _Computing(negative))


class _Computing(Effects):
    """Eager execution whose steps that compute give one NaN, but for ``where``, which chooses between elements."""

    def __init__(self, negative: bool) -> None:
        """Say of which sign it is."""
        self.negative = negative

    def compute(self, where: str, step: Step, operands: list[Ranks]) -> Ranks:
        """Return what a step gives."""
        made = super().compute(where, step, operands)
        return made if step.attrs.get("op") == "where" else [_one_nan(block, negative=self.negative) for block in made]


def _reduced(name: str, negative: bool, blocks: Sequence[Array], **attrs: Any) -> list[Any]:
    return [_one_nan(block, negative=negative) for block in OPERATIONS[name](blocks, **attrs)]


def _one_nan(block: Any, *, negative: bool) -> Any:
    """Return a block with one NaN, of a sign, for every NaN in it; the same where its dtype has one NaN alone."""
    if not isinstance(block, np.ndarray) or kind(logical(block.dtype)) not in ("float", "complex"):
        return block
    changed = block.copy()
    parts = changed.reshape(-1).view(block.real.dtype)
    with np.errstate(invalid="ignore"):  # of ml_dtypes, isnan converts, and a signalling NaN tells so
        nan = np.array(np.nan).astype(parts.dtype)
        bits = nan.view(f"u{nan.itemsize}")
        other = (bits ^ bits.dtype.type(1 << (8 * nan.itemsize - 1))).view(nan.dtype)
        if np.isnan(other):
            parts[np.isnan(parts)] = other if negative else nan
    return changed
