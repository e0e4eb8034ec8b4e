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

Blocks = dict[str, list[Array]]
"""The blocks of each input, one for all ranks that hold the same."""


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
    for name in program.inputs:
        for number, holders in enumerate(_holders(program, name)):
            others = among(holders)
            for base, changed in _changes(program) if others else ():
                other = changed[name][number]
                blocks = [
                    other if rank in holders else block for rank, block in enumerate(_by_rank(program, name, base))
                ]
                inputs = {each: _by_rank(program, each, base) for each in program.inputs}
                if needs := others & _unlike(_results(program, inputs), _results(program, inputs | {name: blocks})):
                    yield holders, min(needs)


def _without_ragged(program: TypedProgram) -> TypedProgram:
    """Return the program with the results that no ragged exchange makes: such a one is compiled with any offsets."""
    made: set[str] = set()
    for step in program.steps:
        if step.op == "ragged_all_to_all" or made.intersection(step.inputs):
            made.add(step.output)
    return replace(program, results=tuple(name for name in program.results if name not in made))


def _holders(program: TypedProgram, name: str) -> list[Ranks]:
    """Return the ranks that hold the same block of an input, for each block."""
    varying = program.inputs[name].varying
    return [
        frozenset(line) for line in lines(program.mesh, tuple(a.name for a in program.mesh if a.name not in varying))
    ]


def _changes(program: TypedProgram) -> Iterator[tuple[Blocks, Blocks]]:
    """Yield what the inputs hold, and what one block holds instead."""
    for held, number in _UNIFORM:
        yield _uniform(program, held), _uniform(program, number)
    for seed in _DRAWN:
        yield _drawn(program, seed), _drawn(program, seed + 1)


_UNIFORM: Final = ((1, 2), (1, 0), (1, 5), (1, -5), (0, 1))
"""What every block holds, and what one holds instead: more, less, far more and far less, so that it is an extreme among
sums too, and what is true where all else is false. None is greater than what programs are drawn to be exact of."""

_DRAWN: Final = (0, 2)
"""Where random blocks begin, no two alike: what equal elements or equal blocks would cancel shows in these."""


def comes(facts: Iterable[Lowered], world: int) -> list[set[int]]:
    """Return for each rank those of which something can come to it by these collectives, each done once, in any order.

    A way from rank to rank takes each of them once at most: what is left out of a chain is missing there, even where
    others join the same ranks.
    """
    edges = [{edge for edge in _edges(fact) if max(edge) < world} for fact in facts]
    found: list[set[int]] = [set() for _ in range(world)]
    for source in range(world):
        for rank in reached(source, edges):
            found[rank].add(source)
    return found


def reached(source: int, edges: list[set[tuple[int, int]]]) -> set[int]:
    """Return the ranks to which ways lead, the shortest first, of those that any number of steps leads to."""
    everywhere = _joined(source, set().union(*edges))
    ways: dict[int, list[Ranks]] = {source: [frozenset()]}
    todo = [(source, frozenset[int]())]
    while todo and len(ways) < len(everywhere):
        following = []
        for rank, taken in todo:
            for number, each in enumerate(edges):
                if number in taken or any(n not in taken and edges[n] == each for n in range(number)):
                    continue  # of equal ones the first that is left
                for target in (after for before, after in each if before == rank):
                    way = taken | {number}
                    if not any(known <= way for known in ways.get(target, ())):
                        ways.setdefault(target, []).append(way)
                        following.append((target, way))
        todo = following
    return set(ways)


def _joined(source: int, edges: set[tuple[int, int]]) -> set[int]:
    """Return the ranks that edges lead to, taken any number of times."""
    found, todo = {source}, [source]
    while todo:
        rank = todo.pop()
        new = {after for before, after in edges if before == rank} - found
        found |= new
        todo += new
    return found


def _edges(fact: Lowered) -> Iterator[tuple[int, int]]:
    """Yield the pairs of ranks of which the first can give something to the second."""
    for group in fact.groups:
        ranks = [rank for rank in group if rank >= 0]
        sources = ranks[:1] if fact.op in ("broadcast", "permute", "recv", "send") else ranks
        yield from ((source, target) for source in sources for target in ranks)


def _by_rank(program: TypedProgram, name: str, blocks: Blocks) -> list[Array]:
    """Return what each rank holds of an input."""
    found = dict[int, Array]()
    for holders, block in zip(_holders(program, name), blocks[name], strict=True):
        found |= dict.fromkeys(holders, block)
    return [found[rank] for rank in range(program.world)]


def _uniform(program: TypedProgram, number: int) -> Blocks:
    return {
        name: [np.full(given.shape, number).astype(NUMPY[given.dtype])] * len(_holders(program, name))
        for name, given in program.inputs.items()
    }


def _drawn(program: TypedProgram, seed: int) -> Blocks:
    random = np.random.default_rng(seed)
    return {
        name: [random.integers(5, size=given.shape).astype(NUMPY[given.dtype]) for _ in _holders(program, name)]
        for name, given in program.inputs.items()
    }


def _results(program: TypedProgram, inputs: dict[str, list[Array]]) -> list[list[bytes]]:
    """Return the bits of each result as it is shown, rank by rank, but for the signs of zeros."""
    types, values = check(program), evaluate(program, inputs)
    shown = [visible(program, types[name], values[name]) for name in program.results]
    return [[(block + block.dtype.type(0)).tobytes() for block in blocks] for blocks in shown]


def _unlike(some: list[list[bytes]], others: list[list[bytes]]) -> set[int]:
    pairs = zip(some, others, strict=True)
    return {rank for one, other in pairs for rank in range(len(one)) if one[rank] != other[rank]}
