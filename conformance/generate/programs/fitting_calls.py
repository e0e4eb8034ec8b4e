"""Calls of an operation on a block that is there already, as chains of collectives make them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.cases.program.program import Attr
from conformance.cases.tensor.dtypes import kind
from conformance.generate import choices
from conformance.generate.calls.draft import Draft
from conformance.generate.calls.legal_calls import REDUCTIONS, Call
from conformance.generate.calls.process_groups import orders
from conformance.generate.calls.shapes import Shape
from conformance.generate.operations import CALLED
from conformance.reference.operations import FOLDED, TABLE
from conformance.reference.spmd import ATTRIBUTES, DEFAULTS, flags

FITTING: Final = tuple(op for op in CALLED if TABLE[op].differ == "nothing")
"""Operations for which a block of any rows may do."""


def fitted(draw: choices.Draw, op: str, drawn: Draft, shape: Shape) -> Call | None:
    """Draw a legal call of ``op`` on blocks of ``shape`` that every rank holds, or return ``None`` where none is known.

    Reductions are those that stay exact however often they are applied, so that floats have none here.
    """
    attrs = _attributes(draw, op, drawn, shape)
    return None if attrs is None else Call(op, attrs, (shape,) * drawn.world)


def _attributes(draw: choices.Draw, op: str, drawn: Draft, shape: Shape) -> Mapping[str, Attr] | None:
    size, family, row = drawn.group_size, kind(drawn.dtype), TABLE[op]
    attrs: dict[str, Attr] = {}
    if row.does == "reduce":
        if family not in ("bool", "integer"):
            return None
        attrs["op"] = draw.one(REDUCTIONS[family]) if op in FOLDED else draw.one(("max", "min"))
    if "root" in row.attributes:
        attrs["root"] = draw.source.below(size)
    if row.does == "gather":
        attrs["tiled"] = bool(shape) and draw.one((True, False))
        attrs["axis"] = draw.source.below(len(shape) + (not attrs["tiled"]))
    elif "tiled" in row.attributes:
        fits = [(at, True) for at, extent in enumerate(shape) if extent % size == 0]
        fits += [(at, False) for at, extent in enumerate(shape) if extent == size]
        if not fits:
            return None
        at, attrs["tiled"] = draw.one(fits)
        if "split_axis" in row.attributes:
            attrs |= {"split_axis": at, "concat_axis": draw.source.below(len(shape))}
        else:
            attrs["axis"] = at
    if "pairs" in row.attributes:
        attrs["pairs"] = tuple(enumerate(draw(orders(tuple(range(size))))))
    if "sources" in row.attributes:
        attrs["sources"] = tuple(draw(orders(tuple(range(size)))))
    attrs |= {name: draw.one((False, True)) for name in flags(op)}
    # What no other operation has, its own ``call`` draws, with a block to go with it.
    return attrs if ATTRIBUTES[op].keys() - DEFAULTS[op].keys() <= attrs.keys() else None
