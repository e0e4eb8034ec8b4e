"""permute."""

from __future__ import annotations

from hypothesis import strategies as st

from conformance.cases.case import Case
from conformance.judging.clause import Subject
from conformance.specs.domain import EQUAL, SHAPES, Draft, draft
from conformance.specs.op import Example, Op, rejection, value


def pairs_of(subject: Subject) -> list[tuple[int, int]]:
    """Return the (source, destination) pairs of the first step."""
    pairs = subject.step.attrs["pairs"]
    assert isinstance(pairs, tuple | list)
    return [(pair[0], pair[1]) for pair in pairs]  # type: ignore[index]  # pairs of pairs, by ``check_step``


def group_size(subject: Subject) -> int:
    """Return the number of positions that pairs speak about."""
    return len(subject.step.groups[0]) if subject.step.groups else subject.case.program.world


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


@st.composite
def pairs_near(draw: st.DrawFn, size: int) -> tuple[tuple[int, int], ...]:
    """Draw pairs over ``size`` positions: full, partial or none, now and then with one position misused."""
    sources = draw(st.permutations(range(size)))
    destinations = draw(st.permutations(range(size)))
    swapped = [position ^ 1 if position ^ 1 < size else position for position in sources]
    count = draw(st.sampled_from([size, size, size, size // 2, max(size - 1, 0), 0]))
    pairs = list(zip(sources, draw(st.sampled_from([destinations, swapped])), strict=True))[:count]
    misuse = draw(st.sampled_from([*["none"] * 4, "source", "destination", "beyond", "negative"]))
    if len(pairs) > 1:
        (source, destination), second = pairs[:2]
        pairs[1] = {
            "source": (source, second[1]),
            "destination": (second[0], destination),
            "beyond": (second[0], size),
            "negative": (-1, second[1]),
        }.get(misuse, second)
    return tuple(pairs)


@st.composite
def programs(draw: st.DrawFn) -> Case:
    """Draw a permute with full, partial and empty pairs and, now and then, illegal ones."""
    drawn: Draft = draft(draw, groups=EQUAL)
    pairs = draw(pairs_near(drawn.group_size))
    return drawn.case("permute", shape=draw(SHAPES), attrs={"pairs": pairs})


OP = Op(
    "permute",
    summary="Blocks move along (source, destination) pairs of positions.",
    domain=programs(),
    clauses=(
        value("permute.C1", "Every destination receives the block of its source.", "001"),
        value(
            "permute.C2", "A position that is no destination receives zeros.", "001",
            lambda s: len(pairs_of(s)) < group_size(s),
        ),
        rejection("permute.C3", "A source named twice is rejected.", "001"),
        rejection("permute.C4", "A destination named twice is rejected.", "001"),
        rejection("permute.C5", "A position at or beyond the group size is rejected.", "001"),
        rejection("permute.C6", "A negative position is rejected.", "001", "should"),
        value(
            "permute.C7", "No pairs at all is legal, and every position receives zeros.", "001",
            lambda s: not pairs_of(s),
        ),
        value("permute.C8", "Disjoint cycles move together.", "001", several_cycles),
        value(
            "permute.C9", "A position sent to itself keeps its block.", "001",
            lambda s: any(source == destination for source, destination in pairs_of(s)),
        ),
    ),
    aliases={"jax": ("lax.ppermute", "lax.pshuffle"), "torch": ("distributed.batch_isend_irecv",)},
    examples=(
        Example("001", "int32", {"pairs": ((0, 1), (1, 2), (2, 0))}, [[1], [2], [3]], [[3], [1], [2]]),
        Example("001", "int32", {"pairs": ((0, 1),)}, [[1], [2], [3]], [[0], [1], [0]]),
    ),
)  # fmt: skip
