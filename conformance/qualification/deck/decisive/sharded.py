"""Programs on sharded tensors whose values decide: folds across devices, and operations of operands placed unlike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from conformance.cases.program.program import Axis
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Placement, Split, even_cuts
from conformance.cases.tensor.dtypes import DRAWN
from conformance.generate.tables.sharded import legal
from conformance.qualification.deck.decisive.graphs import FOLDS, OPERATIONS, Making, made_of, takes
from conformance.qualification.deck.decisive.values import classes, met

DEVICES: Final = 3


def folds() -> Iterator[ShardedCase]:
    """Yield for each dtype its folds along the axis that is split, and along the other one."""
    for dtype in DRAWN:
        values, made = classes(dtype), Making()
        size = len(values) ** 2
        source = made.buffer(np.stack([met(values, (size,), rank) for rank in range(DEVICES)]), dtype)
        for word in FOLDS[0]:
            if takes(word, dtype):
                made.ask("reduce", (size,), dtype, source, arg=(0,), fold=word)
                made.ask("reduce", (DEVICES,), dtype, source, arg=(1,), fold=word)
        yield from _sharded(made, {"b0": _split(even_cuts(DEVICES, DEVICES))}, turned=False)


def operations() -> Iterator[ShardedCase]:
    """Yield for each dtype the elementwise operations that it takes, of one operand cut unevenly and whole ones."""
    for dtype in DRAWN:
        values, made = classes(dtype), Making()
        size = len(values) ** 2
        chosen = made.buffer(np.arange(size) % 3 > 0, "bool")
        one, other = (made.buffer(met(values, (size,), rank), dtype) for rank in range(2))
        for word in (*OPERATIONS[0], "and", "or", "xor"):
            if takes(word, dtype):
                of = {"where": [chosen, one, other], "neg": [one], "abs": [one]}.get(word, [one, other])
                made.ask("alu", (size,), made_of(word, dtype), *of, arg=word)
        yield from _sharded(made, {"b1": _split((0, 1, size // 2, size))}, turned=True)


def _split(cuts: tuple[int, ...]) -> Placement:
    return Placement(splits=(Split(axis=0, along=("i",), cuts=cuts),))


def _sharded(made: Making, homes: Mapping[str, Placement], *, turned: bool) -> Iterator[ShardedCase]:
    plain = made.case()
    if plain is not None:
        devices = tuple(range(DEVICES))[:: -1 if turned else 1]
        case = legal(ShardedCase(mesh=(Axis("i", DEVICES),), devices=devices, of=plain, homes=dict(homes)))
        if case is not None:
            yield case
