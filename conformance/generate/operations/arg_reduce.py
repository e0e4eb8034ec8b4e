"""How arg_reduce is drawn."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Final

from conformance.cases.case import Case
from conformance.cases.tensor.dtypes import kind
from conformance.generate import choices
from conformance.generate.calls.decisive_values import Family, Values
from conformance.generate.calls.draft import PARTITIONS, Draft, draft
from conformance.generate.calls.legal_calls import Drawn, alike, shape_of
from conformance.judging.numbers.facts import GRADUAL

_POSITIONS: Final = choices.steered(["max", "min"], ("reduction",), lambda op: (op,))


@cache
def _values(op: str) -> choices.Choice[str]:
    words = {"with_nan": "nan", "subnormal": "subnormal"}
    found = [op, *[f"{op}_zeros"] * 3, "with_nan", "subnormal"]
    return choices.steered(found, ("values",), lambda name: (words.get(name, ""),))


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw an arg_reduce over values with ties, NaNs and both zeros, and now and then of another reduction."""
    drawn: Draft = draft(draw, groups=PARTITIONS)
    op = draw(choices.sampled_from([*["max", "min"] * 4, "sum"]))
    # What is special is so of floats alone.
    values: Values = draw(_values(op)) if op != "sum" and kind(drawn.dtype) == "float" else "max" if op == "sum" else op
    if values == "subnormal":
        values = Family("max", "subnormal") if drawn.dtype in GRADUAL else op
    return drawn.case("arg_reduce", shape=drawn.shape(), attrs={"op": op}, values=values)


@choices.composite
def zeros_of_both_signs(draw: choices.Draw) -> Case:
    """Draw an arg_reduce whose extremes are zeros of both signs: ``ArgReduceTellsZerosApart`` stands for the bug."""
    drawn = replace(draft(draw, groups=PARTITIONS), dtype=draw(choices.sampled_from(["float32", "float64", "float16"])))
    op = draw(choices.sampled_from(["max", "min"]))
    return drawn.case("arg_reduce", shape=(12,), attrs={"op": op}, values=f"{op}_zeros")


def calls(draw: choices.Draw, drawn: Draft, shapes: str) -> Drawn:
    """Draw a legal call of it."""
    # Over no axis nothing is compared.
    drawn = replace(drawn, dtype="int32") if kind(drawn.dtype) == "complex" and drawn.axes else drawn
    op = draw(_POSITIONS)
    return alike(drawn, "arg_reduce", shape_of(draw, drawn, shapes), op, op=op)
