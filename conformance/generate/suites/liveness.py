"""How the suite liveness is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.operations import CALLED
from conformance.generate.programs.divergent_ranks import DivergentRanks, divergent_ranks
from conformance.generate.programs.fault_injection import dying_call, late_call, parted_call


def late(program: DivergentRanks) -> Case:
    """One rank is late, for the first step or for the second."""
    program.run(program.call, of=program.again())
    program.run(program.call)
    return program.case(late=program.odd)


def own_ways(program: DivergentRanks) -> Case:
    """One group does something else than the others."""
    if len(program.groups) < 2:
        return split(program)
    program.run(program.other, ranks=program.groups[0])
    program.run(program.call, ranks=program.without(*program.groups[0]))
    return program.case()


def own_order(program: DivergentRanks) -> Case:
    """Two groups do the same two things, each in its own order."""
    if len(program.groups) < 2:
        return split(program)
    mine, others = program.groups[0], program.without(*program.groups[0])
    program.run(program.call, ranks=mine)
    program.run(program.other, ranks=mine)
    program.run(program.other, ranks=others)
    program.run(program.call, ranks=others)
    return program.case()


def split(program: DivergentRanks) -> Case:
    """One rank has the step under another name than the others, and maybe another operand."""
    program.run(program.call, ranks=(program.odd,), of=program.again())
    program.run(program.call, ranks=program.rest)
    return program.case()


def operations(program: DivergentRanks) -> Case:
    """One rank calls something else."""
    program.run(program.other, ranks=(program.odd,))
    program.run(program.call, ranks=program.rest)
    return program.case()


def attributes(program: DivergentRanks) -> Case:
    """One rank gives another root, another reduction, other pairs."""
    changed = program.changed()
    if changed is None:
        return operations(program)
    program.run(changed, ranks=(program.odd,))
    program.run(program.call, ranks=program.rest)
    return program.case()


def dtypes(program: DivergentRanks) -> Case:
    """One rank has a block of another dtype."""
    if not program.call.operand:
        return operations(program)
    program.run(program.call, ranks=(program.odd,), of=program.operand(dtype=program.other_dtype))
    program.run(program.call, ranks=program.rest)
    return program.case()


def shapes(program: DivergentRanks) -> Case:
    """One rank has a block of another shape."""
    if not program.call.operand:
        return operations(program)
    program.run(program.call, ranks=(program.odd,), of=program.operand(wider=True))
    program.run(program.call, ranks=program.rest)
    return program.case()


def order(program: DivergentRanks) -> Case:
    """One rank makes two calls the other way round."""
    program.run(program.call, ranks=(program.odd,))
    program.run(program.other, ranks=(program.odd,))
    program.run(program.other, ranks=program.rest)
    program.run(program.call, ranks=program.rest)
    return program.case()


def crossing(program: DivergentRanks) -> Case:
    """Two ranks of one group meet there and with everybody, each in its own order."""
    if len(program.groups) < 2:
        return order(program)
    program.run(program.call, ranks=(program.odd,), everybody=True)
    program.run(program.call)
    program.run(program.call, ranks=program.rest, everybody=True)
    return program.case()


def groups(program: DivergentRanks) -> Case:
    """One rank means other members, or the same in another order."""
    program.run(program.call, ranks=(program.odd,), groups=program.other_groups())
    program.run(program.call, ranks=program.rest)
    return program.case()


def fewer(program: DivergentRanks) -> Case:
    """One rank makes one call less than the others, or one more."""
    program.run(program.other)
    program.run(program.call, ranks=program.rest if program.flip() else (program.odd,))
    return program.case()


def death(program: DivergentRanks) -> Case:
    """One rank dies, before the first step or before the second."""
    program.run(program.call, of=program.again())
    program.run(program.call)
    return program.case(dies=program.odd)


TEMPLATES: Final[tuple[Callable[[DivergentRanks], Case], ...]] = (
    late, own_ways, death, operations, attributes, own_order, dtypes, shapes, split, order, crossing, groups, fewer,
    late,
)  # fmt: skip
NARROW: Final = (attributes, dtypes)
"""Templates that need another attribute, or another dtype, that is legal by itself."""

_CHOICE: Final = choices.sampled_from(TEMPLATES)
_ALONE: Final = choices.sampled_from([None, None, None, late_call, parted_call, dying_call])


@choices.composite
def programs(draw: choices.Draw, op: str) -> Case:
    """Draw a program that shows one kind of trouble with ``op``, or that there is none."""
    alone = draw(_ALONE)
    if alone is not None and op in CALLED:
        return alone(draw, op)
    template = draw(_CHOICE)
    return template(divergent_ranks(draw, op, narrow=template in NARROW))


SUITE: Final = "liveness"

DOMAINS: Final = {op: programs(op) for op in (*CALLED, "barrier")}
"""Of each operation of the suite what its cases are drawn from."""

SHARE: Final = 0.25
"""The part of a run's examples that is drawn for each operation of the suite."""
