"""What a compiler may make of a typed program: which collectives may be there, and what has to come to which rank."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import numpy as np
from msgspec.structs import replace

from conformance.cases.program.program import lines
from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.cases.types.lowered import Lowered
from conformance.cases.types.typed_program import TypedProgram
from conformance.reference.types.check import check
from conformance.reference.types.lowering import lowered
from conformance.reference.types.values import evaluate, visible

Ranks = frozenset[int]


def compiled(program: TypedProgram) -> list[Lowered]:
    """Return every collective that a compiled program may have.

    They are those that its steps are lowered to, where each that is started has one done, and for each unreduced result
    the sum by which it is shown. A compiler may leave some out and take them in another order.
    """
    own = [replace(made, dones=int(made.started)) for made in lowered(program) if made.op != "axis_index"]
    types = check(program)
    pending = [types[name].unreduced for name in program.results if types[name].unreduced]
    shown = [Lowered(op="all_reduce", groups=lines(program.mesh, axes), reducer="sum") for axes in pending]
    return [*own, *(replace(each, global_ids=True) for each in shown)]


def cut_off(program: TypedProgram, facts: Iterable[Lowered]) -> tuple[Ranks, int] | None:
    """Return ranks that hold the same block, and a rank that needs it and has nothing of it by these collectives.

    It needs it where a result there changes with the block: however the program is compiled, something has come there.
    """
    found = comes(facts, program.world)

    def lost(holders: Ranks) -> Ranks:
        return frozenset(rank for rank in range(program.world) if not holders & found[rank])

    return next(_needed(program, lost), None)


def crosses(program: TypedProgram) -> bool:
    """Return whether a result on some rank changes with a block that only other ranks hold."""
    everywhere = frozenset(range(program.world))
    return next(_needed(program, lambda holders: everywhere - holders), None) is not None


def _needed(program: TypedProgram, among: Callable[[Ranks], Ranks]) -> Iterator[tuple[Ranks, int]]:
    """Yield ranks that hold the same block, with a rank among some others on which a result changes with it."""
    program = _without_ragged(program)
    for name, given in program.inputs.items():
        same = tuple(axis.name for axis in program.mesh if axis.name not in given.varying)
        for holders in map(frozenset, lines(program.mesh, same)):
            others = among(holders)
            for held, number in _CHANGES if others else ():
                inputs = {each: _blocks(program, each, held) for each in program.inputs}
                other = _blocks(program, name, number)
                blocks = [other[rank] if rank in holders else block for rank, block in enumerate(inputs[name])]
                if needs := others & _unlike(_results(program, inputs), _results(program, inputs | {name: blocks})):
                    yield holders, min(needs)


def _without_ragged(program: TypedProgram) -> TypedProgram:
    """Return the program with the results that no ragged exchange makes: such a one is compiled with any offsets."""
    made: set[str] = set()
    for step in program.steps:
        if step.op == "ragged_all_to_all" or made.intersection(step.inputs):
            made.add(step.output)
    return replace(program, results=tuple(name for name in program.results if name not in made))


_CHANGES: Final = ((1, 2), (1, 0), (1, 5), (1, -5), (0, 1))
"""What every block holds, and what one holds instead: more, less, far more and far less, so that it is an extreme among
sums too, and what is true where all else is false. None is greater than what programs are drawn to be exact of."""


def comes(facts: Iterable[Lowered], world: int) -> list[set[int]]:
    """Return for each rank those of which something can come to it by these collectives, in any order and number."""
    edges = {edge for fact in facts for edge in _edges(fact) if max(edge) < world}
    found = [{rank} for rank in range(world)]
    changed = True
    while changed:
        before = [len(each) for each in found]
        for source, target in edges:
            found[target] |= found[source]
        changed = before != [len(each) for each in found]
    return found


def _edges(fact: Lowered) -> Iterator[tuple[int, int]]:
    """Yield the pairs of ranks of which the first can give something to the second."""
    for group in fact.groups:
        ranks = [rank for rank in group if rank >= 0]
        sources = ranks[:1] if fact.op in ("broadcast", "permute", "recv", "send") else ranks
        yield from ((source, target) for source in sources for target in ranks)


def _blocks(program: TypedProgram, name: str, number: int) -> list[Array]:
    given = program.inputs[name]
    return [np.full(given.shape, number, NUMPY[given.dtype])] * program.world


def _results(program: TypedProgram, inputs: dict[str, list[Array]]) -> list[list[bytes]]:
    """Return the bits of each result as it is shown, rank by rank."""
    types, values = check(program), evaluate(program, inputs)
    shown = [visible(program, types[name], values[name]) for name in program.results]
    return [[block.tobytes() for block in blocks] for blocks in shown]


def _unlike(some: list[list[bytes]], others: list[list[bytes]]) -> set[int]:
    pairs = zip(some, others, strict=True)
    return {rank for one, other in pairs for rank in range(len(one)) if one[rank] != other[rank]}
