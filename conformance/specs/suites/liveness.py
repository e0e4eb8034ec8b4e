"""The suite of ranks that go their own ways: they run different steps, disagree, are late or die."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from conformance.cases.case import Case
from conformance.cases.program.rank_faults import WORDS
from conformance.judging.clause import Clause
from conformance.judging.liveness import ended, healthy, others_right
from conformance.judging.numbers.admissible import admissible
from conformance.judging.subject import Subject
from conformance.reference.divergent_ranks import DEAD
from conformance.specs.domains import choices
from conformance.specs.op import rejection, suited
from conformance.specs.scenarios.block_operations import CALLED
from conformance.specs.scenarios.divergent_ranks import DivergentRanks, divergent_ranks
from conformance.specs.scenarios.troubled_calls import dying_call, late_call, parted_call
from conformance.specs.suite import Suite


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


def troubled(subject: Subject) -> bool:
    """Speak about programs in which ranks go their own ways, are late or die."""
    return subject.case.troubled


def partly(subject: Subject) -> bool:
    """Speak about programs in which some ranks cannot go on and others can."""
    return subject.rejected is not None and any(
        block is not None for blocks in subject.rejected.results.values() for block in blocks
    )


def shared(subject: Subject) -> bool:
    """Speak about programs in which members of one group meet though each has a step of its own."""
    steps = [set(step.ranks) for step in subject.case.program.collectives if step.ranks is not None]
    return any(set(group) & ranks and set(group) - ranks for group in subject.groups for ranks in steps)


def unlike(number: int, text: str) -> Clause:
    """Return the clause about one kind of disagreement."""
    return rejection(
        f"liveness.C{number}",
        f"Where {text}, every rank that cannot go on raises an error.",
        "torch.distributed: TORCH_DISTRIBUTED_DEBUG",
    )


CLAUSES: Final[tuple[Clause, ...]] = (
    Clause(
        "liveness.C1",
        "must",
        "Every rank that does not die ends within the time limit of the case: with its results, if it has any, or with "
        "an error.",
        troubled,
        ended,
        "ours",
        general=True,
    ),
    Clause(
        "liveness.C2",
        "must",
        "A rank that is late changes no result, apart from the order in which terms are folded (`numerics.C1`).",
        lambda s: s.legal and s.has("faults", "late") and not s.unsettled,
        admissible,
        "ours",
    ),
    Clause(
        "liveness.C3",
        "must",
        "A collective waits for the members of its group and for no other rank: groups without a common member run "
        "different operations, or the same ones in different orders, with the results that they have alone.",
        lambda s: s.legal and s.case.apart and not shared(s) and not s.unsettled,
        admissible,
        "mpi.correctness",
    ),
    Clause(
        "liveness.C4",
        "must",
        "Members of a group that call the same collective meet in it, also where each has it as a separate step of its "
        "own.",
        lambda s: s.legal and s.case.apart and shared(s) and not s.unsettled,
        admissible,
        "mpi.correctness",
    ),
    unlike(5, "members of a group call different operations, or one operation on different numbers of operands"),
    unlike(6, "members of a group give one operation different attributes"),
    unlike(7, "members of a group hold blocks of different dtypes"),
    unlike(8, "members of a group hold blocks of shapes that differ, and the operation needs one shape"),
    unlike(9, "members of a group make the same calls in different orders"),
    unlike(10, "ranks that are members of two groups come to the collectives of these groups in different orders"),
    unlike(11, "ranks name different members of a group, or the same members in different orders"),
    unlike(12, "members of a group make different numbers of calls"),
    rejection(
        DEAD,
        "Where a rank dies, every rank that waits for its block, or for it at a barrier, raises an error, and so does "
        "every rank that waits in the same way for one of those at a later step.",
        "ours",
    ),
    Clause(
        "liveness.C14",
        "must",
        "A rank that can go on while others cannot returns its right results, if it has any, or raises an error.",
        partly,
        others_right,
        "ours",
    ),
    Clause(
        "liveness.C15",
        "must",
        "After a program in which ranks ran different steps, were late or died, the same ranks run another program "
        "with the right results, whether or not the first failed.",
        troubled,
        healthy,
        "ours",
        general=True,
    ),
)

SUITE = Suite(
    "liveness",
    "Ranks that run different steps, disagree, are late or die.",
    domains={op: programs(op) for op in (*CALLED, "barrier")},
    clauses=tuple(suited(clause, "liveness", "faults", WORDS) for clause in CLAUSES),
    share=0.25,
)
