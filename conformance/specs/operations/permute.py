"""permute."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.judging.subject import Subject
from conformance.specs.domains import choices
from conformance.specs.domains.calls import BOOLEANS, Drawn, alike, orders_of, shape_of
from conformance.specs.domains.domain import EQUAL, Draft, draft
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.families.pairs import PAIRS, pairs_near, pairs_of
from conformance.specs.op import Example, Op, about, value


def partial(subject: Subject) -> bool:
    """Speak about pairs that leave some position without a source."""
    return any(len(pairs_of(subject)) < len(group) for group in subject.groups)


def several_cycles(subject: Subject) -> bool:
    """Speak about permutations with two or more disjoint cycles of two or more positions."""
    to = {source: destination for source, destination in pairs_of(subject) if source != destination}
    cycles = 0
    while to:
        start, at = next(iter(to.items()))
        del to[start]
        while at in to:
            at = to.pop(at)
        cycles += at == start
    return cycles > 1


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw a permute with full, partial and empty pairs and, now and then, illegal ones."""
    drawn: Draft = draft(draw, groups=EQUAL)
    pairs = draw(pairs_near(drawn.group_size))
    return drawn.case("permute", shape=drawn.shape(), attrs={"pairs": pairs})


def calls(draw: choices.Draw, drawn: Draft, shapes: str) -> Drawn:
    """Draw a legal call of it."""
    to = draw(orders_of(drawn.group_size))
    pairs = tuple(enumerate(to))[: None if draw(BOOLEANS) else max(len(to) - 1, 1)]
    return alike(drawn, "permute", shape_of(draw, drawn, shapes), pairs=pairs)


OP = Op(
    "permute",
    summary="Blocks move along (source, destination) pairs of positions.",
    domain=programs(),
    call=calls,
    shares=COLLECTIVE + PAIRS,
    clauses=(
        value(
            "permute.C1",
            "In each group, the destination of a pair receives the block of the source of that pair.",
            "jax.ppermute",
        ),
        value(
            "permute.C2",
            "A position that is the destination of no pair receives zeros: +0 in every format, and in float8_e8m0fnu, "
            "which has no zero, the number whose bits are all zero, 2**-127; over no mesh axis see `collective.C30`.",
            "jax.ppermute; stablehlo.collective_permute",
            about(partial, pairs=("partial",)),
        ),
        value(
            "permute.C3",
            "An empty list of pairs is legal, and every position receives zeros (`permute.C2`); over no mesh axis see "
            "`collective.C30`.",
            "jax.ppermute",
            about(lambda s: not pairs_of(s), pairs=("empty",)),
        ),
        value(
            "permute.C4",
            "Pairs that form several disjoint cycles are legal, and each cycle moves its own blocks.",
            "jax.ppermute",
            about(several_cycles, pairs=("given",)),
        ),
        value(
            "permute.C5",
            "A position that is paired with itself receives its own block.",
            "jax.ppermute",
            about(
                lambda s: any(source == destination for source, destination in pairs_of(s)),
                pairs=("given",),
            ),
        ),
    ),
    aliases={"jax": ("lax.ppermute",), "torch": ("distributed.batch_isend_irecv",), "mpi": ("MPI_Sendrecv",)},
    examples=(
        Example("jax.ppermute", "int32", {"pairs": ((0, 1), (1, 2), (2, 0))}, [[1], [2], [3]], [[3], [1], [2]]),
        Example("jax.ppermute", "int32", {"pairs": ((0, 1),)}, [[1], [2], [3]], [[0], [1], [0]]),
    ),
)
