"""permute."""

from __future__ import annotations

from conformance.judging.subject import Subject
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.families.pairs import PAIRS, pairs_of
from conformance.specs.op import SAME, Example, Op, Result, about, value


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


OP = Op(
    "permute",
    summary="Blocks move along (source, destination) pairs of positions.",
    shares=COLLECTIVE + PAIRS,
    clauses=(
        value(
            "permute.C1",
            "In a permute the destination of each pair receives, in every group, the block of the source of that "
            "pair; over no mesh axis see `collective.C30`.",
            "jax.ppermute",
        ),
        value(
            "permute.C2",
            "In a permute a position that is the destination of no pair receives elements whose bits are all zero: +0 "
            "in every format except float8_e8m0fnu, which has no zero and where they are 2**-127; over no mesh axis "
            "see `collective.C30`.",
            "jax.ppermute; stablehlo.collective_permute",
            about(partial, pairs=("partial",)),
        ),
        value(
            "permute.C3",
            "A permute with an empty list of pairs is legal, and every position receives zeros (`permute.C2`); over "
            "no mesh axis see `collective.C30`.",
            "jax.ppermute",
            about(lambda s: not pairs_of(s), pairs=("empty",)),
        ),
        value(
            "permute.C4",
            "A permute whose pairs form several disjoint cycles is legal, and each cycle moves its own blocks; over "
            "no mesh axis see `collective.C30`.",
            "jax.ppermute",
            about(several_cycles, pairs=("given",)),
        ),
        value(
            "permute.C5",
            "In a permute a position that is paired with itself receives its own block.",
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
    results=(Result("", "shape", SAME, ("permute.C1", "permute.C2")),),
    arguments={"pairs": ("permute.C1", "permute.C2", "permute.C3")},
)
