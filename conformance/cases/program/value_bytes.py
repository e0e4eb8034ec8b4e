"""How many bytes the values of a program have at most, known from its inputs and its steps before any is computed.

What an operation is (``operations.row``) says how much it may make of what it takes: on all ranks together an exchange
makes no more than it is given, and a gather so many times as much as its groups have members.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from conformance.cases.case import Case
from conformance.cases.program.computing import MOST_OF_NOTHING, MOST_PRODUCTS
from conformance.cases.program.operations import row
from conformance.cases.program.program import COMPUTING, EFFECTS, Attr, Axis, Groups, Step
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.cases.tensor.footprint import ValueBytes

NUMBER: Final = 8
"""Bytes of what an operation that asks gives each rank, at most."""


@dataclass(frozen=True)
class Extent:
    """The elements of a value on all ranks together, and the bytes of one, at most.

    It is ``rounded`` where it is of floats or complex numbers: a reduction of others may be of any dtype.
    """

    elements: int
    width: int
    rounded: bool = False

    @property
    def size(self) -> int:
        """Return its bytes."""
        return self.elements * self.width


NOTHING: Final = Extent(0, 1)


def extent(dtype: str, elements: int) -> Extent:
    """Return the extent of so many elements of a dtype."""
    return Extent(elements, NUMPY[dtype].itemsize, kind(dtype) in ("float", "complex"))


def program_values(case: Case) -> Iterator[ValueBytes]:
    """Yield what makes each value of a case, inputs included, and how many bytes it has at most, on all ranks."""
    for name, each in inputs(case).items():
        yield f"input {name!r}", each.size
    for number, (step, _, made) in enumerate(extents(case)):
        yield f"step {number} ({step.op:.80})", sum(each.size for each in made)


def inputs(case: Case) -> dict[str, Extent]:
    """Return the extent of each input."""
    known: dict[str, Extent] = {}
    for name, operand in case.inputs.items():
        counts = [math.prod(block.shape) for block in operand.blocks]
        widest = max((extent(block.dtype, 1) for block in operand.blocks), key=lambda each: each.width, default=NOTHING)
        known[name] = Extent(sum(counts), widest.width, widest.rounded)
    return known


def extents(case: Case) -> Iterator[tuple[Step, list[Extent], list[Extent]]]:
    """Yield each step of a case with the extents of what it takes and of what it makes, at most."""
    known = inputs(case)
    mesh, world = case.program.mesh, case.program.world
    for step in case.program.steps:
        given = [known.get(name, NOTHING) for name in step.inputs]
        if step.op in EFFECTS:
            made = given
        elif step.op in COMPUTING:
            made = [_computed(step, given, world)]
        else:
            members = members_of(mesh, step.axes, step.groups)
            made = outcome(step.op, given, members, step.attrs, world)
        known |= zip(step.outputs, made, strict=False)
        yield step, given, made


def _computed(step: Step, given: list[Extent], world: int) -> Extent:
    """Return what a step that computes makes of its operands."""
    last = given[-1]
    if step.op == "cast":
        return extent(str(step.attrs["to"]), last.elements)
    if step.op == "fold":
        return Extent(last.elements + world * MOST_OF_NOTHING, last.width, last.rounded)
    if step.op == "dot":
        products = min(given[0].elements * last.elements, world * MOST_PRODUCTS)
        return Extent(products, max(given[0].width, last.width), last.rounded)
    return last


def members_of(mesh: Iterable[Axis], axes: Iterable[str], groups: Groups | None) -> int:
    """Return how many ranks meet in the largest group of a step."""
    if groups is not None:
        return max(map(len, groups), default=1)
    sizes = {axis.name: axis.size for axis in mesh}
    return math.prod(sizes.get(name, 1) for name in axes)


def outcome(op: str, given: list[Extent], members: int, attrs: Mapping[str, Attr], world: int) -> list[Extent]:
    """Return what an operation makes of each of its operands, or of all that it takes together."""
    what = row(op)
    if what.does == "query":
        return [Extent(world, NUMBER)]
    if what.takes_token:
        return [_received(attrs, world)] * len(given)
    taken = given if what.operands == 1 else [given[what.over or 0]] if len(given) > (what.over or 0) else []
    if what.does == "gather" and what.writers == "all":
        return [Extent(each.elements * members, each.width, each.rounded) for each in taken]
    if what.does == "reduce":
        return [Extent(each.elements, max(each.width, 4 if each.rounded else 8), each.rounded) for each in taken]
    return taken


def _received(attrs: Mapping[str, Attr], world: int) -> Extent:
    """Return what comes of a token on all ranks: where nothing was sent to a rank it is zeros."""
    shape, dtype = attrs.get("shape"), attrs.get("dtype")
    if not (isinstance(shape, tuple) and isinstance(dtype, str) and dtype in NUMPY):
        return NOTHING
    return extent(dtype, world * math.prod(max(0, each) for each in shape if isinstance(each, int)))
