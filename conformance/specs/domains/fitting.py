"""Calls of an operation on a block that is there already, as chains of collectives make them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.cases.program.program import Attr
from conformance.cases.tensor.dtypes import kind
from conformance.specs.domains import choose
from conformance.specs.domains.calls import CALLED, REDUCTIONS, Call
from conformance.specs.domains.domain import Draft
from conformance.specs.domains.placing import orders
from conformance.specs.domains.shaping import Shape

FITTING: Final = tuple(op for op in CALLED if op != "all_to_all_uneven")
"""Operations for which a block of any rows may do."""


def fitted(draw: choose.Draw, op: str, drawn: Draft, shape: Shape) -> Call | None:
    """Draw a legal call of ``op`` on blocks of ``shape`` that every rank holds, or return ``None`` where none is legal.

    Reductions are those that stay exact however often they are applied, so that floats have none here.
    """
    attrs = _attributes(draw, op, drawn, shape)
    return None if attrs is None else Call(op, attrs, (shape,) * drawn.world)


def _attributes(draw: choose.Draw, op: str, drawn: Draft, shape: Shape) -> Mapping[str, Attr] | None:
    size, family = drawn.group_size, kind(drawn.dtype)
    attrs: dict[str, Attr] = {}
    if op in ("all_reduce", "reduce", "reduce_scatter", "arg_reduce"):
        if family not in ("bool", "integer"):
            return None
        attrs["op"] = draw.one(("max", "min")) if op == "arg_reduce" else draw.one(REDUCTIONS[family])
    if op in ("reduce", "broadcast", "gather", "scatter"):
        attrs["root"] = draw.source.below(size)
    if op in ("all_gather", "gather"):
        attrs["tiled"] = bool(shape) and draw.one((True, False))
        attrs["axis"] = draw.source.below(len(shape) + (not attrs["tiled"]))
    if op in ("reduce_scatter", "scatter", "all_to_all"):
        fits = [(at, True) for at, extent in enumerate(shape) if extent % size == 0]
        fits += [(at, False) for at, extent in enumerate(shape) if extent == size]
        if not fits:
            return None
        at, attrs["tiled"] = draw.one(fits)
        if op == "all_to_all":
            attrs |= {"split_axis": at, "concat_axis": draw.source.below(len(shape))}
        else:
            attrs["axis"] = at
    if op == "permute":
        attrs["pairs"] = tuple(enumerate(draw(orders(tuple(range(size))))))
    if op == "shuffle":
        attrs["sources"] = tuple(draw(orders(tuple(range(size)))))
    return attrs
