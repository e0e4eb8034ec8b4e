"""How a call that is mapped over several operands chooses the dtypes and shapes of those after the first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Final

from conformance.cases.program.program import Attr
from conformance.cases.tensor.dtypes import DRAWN, kind
from conformance.generate import choices
from conformance.generate.calls.decisive_values import Family, Values
from conformance.generate.calls.mistakes import accepted
from conformance.generate.calls.shapes import Shape
from conformance.reference.reductions import REDUCTIONS

DTYPES: Final = ("int32", "float32", *(name for name in DRAWN if name not in ("int32", "float32")))

CUT_AXES: Final = ("axis", "split_axis")
"""Attributes that name an axis whose extent matters."""

_ANY_DTYPE: Final = choices.sampled_from(DTYPES)
_ALIKE: Final = choices.sampled_from([False, False, True])


def other_shape(draw: choices.Draw, shape: Shape, attrs: Mapping[str, Attr]) -> Shape:
    """Draw the shape of another operand, mostly one with another axis where the attributes name none.

    Where some axes are local, one of both operands has no terms.
    """
    if math.prod(shape) > 32 or draw(_ALIKE):
        return shape
    if "local_axes" in attrs:
        local = _local(attrs, len(shape))
        empty = any(shape[axis] == 0 for axis in local)
        return tuple((1 if empty else 0) if axis in local else extent for axis, extent in enumerate(shape))
    # mypy narrows no lookup.
    cut = [attrs.get(name) for name in CUT_AXES]
    behind = not any(isinstance(axis, int) and axis < 0 for axis in cut)
    return (*shape, 2) if behind else (2, *shape)


def other_dtype(draw: choices.Draw, dtype: str, attrs: Mapping[str, Attr], values: Values, shape: Shape) -> str:
    """Draw the dtype of another operand of ``shape``: for a reduction one that has it, and that stays exact too.

    Where several elements of a block are reduced to one, that is known of integers and of the first operand's dtype.
    """
    op, factor = str(attrs.get("op")), attrs.get("factor", 1.0)
    if values == "any":
        return draw(_ANY_DTYPE)
    assert isinstance(factor, int | float)
    if isinstance(values, Family) or op not in REDUCTIONS or abs(factor) not in (0, 0.5, 1, 2):
        return dtype
    alone = math.prod(shape[axis] for axis in _local(attrs, len(shape))) < 2
    return draw(_beside(op, dtype, alone=alone))


@cache
def _beside(op: str, dtype: str, *, alone: bool) -> choices.Choice[str]:
    """Draw a dtype that has a reduction if ``dtype`` has it; an integer or the same if elements are not ``alone``."""
    every = [each for each in DTYPES if alone or each == dtype or kind(each) in ("bool", "integer")]
    return choices.sampled_from([each for each in every if op in accepted(each) or op not in accepted(dtype)])


def _local(attrs: Mapping[str, Attr], rank: int) -> frozenset[int]:
    """Return the local axes that a block of so many axes has, counted from its start."""
    axes = attrs.get("local_axes", ())
    assert isinstance(axes, tuple | list)
    return frozenset(axis % rank for axis in axes if isinstance(axis, int) and -rank <= axis < rank)
