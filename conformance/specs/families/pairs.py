"""The clauses about (source, destination) pairs, which permute, send and recv share."""

from __future__ import annotations

from typing import Final

from conformance.judging.clause import Clause
from conformance.judging.subject import Subject
from conformance.specs.divergences import accepts, diverging
from conformance.specs.domains import choices
from conformance.specs.domains.mistakes import wrong
from conformance.specs.op import rejection

Pairs = tuple[tuple[int, int], ...]

PAIRS: tuple[Clause, ...] = (
    rejection(
        "pairs.C1", "Pairs that name a source twice are rejected.", "jax.ppermute: _pcollectives_lowering_common"
    ),
    rejection(
        "pairs.C2", "Pairs that name a destination twice are rejected.", "jax.ppermute: _pcollectives_lowering_common"
    ),
    rejection("pairs.C3", "Pairs with a position that is not below the group size are rejected.", "jax.ppermute: perm"),
    diverging(
        rejection("pairs.C4", "Pairs with a negative position are rejected.", "jax.ppermute: perm", "should"),
        accepts("jax", "Positions are indices of a list of Python, which count from the end too."),
    ),
)


def pairs_of(subject: Subject) -> list[tuple[int, int]]:
    """Return the (source, destination) pairs of the step."""
    pairs = subject.step.attrs["pairs"]
    assert isinstance(pairs, tuple | list)
    return [(pair[0], pair[1]) for pair in pairs]  # type: ignore[index]  # pairs of pairs, by ``check_step``


_MISUSE: Final = wrong("pairs", ["none"] * 9, ["source", "destination", "beyond", "negative"])


@choices.composite
def pairs_near(draw: choices.Draw, size: int) -> Pairs:
    """Draw pairs over ``size`` positions: full, partial or none, now and then with one position misused."""
    sources = draw(choices.permutations(range(size)))
    destinations = draw(choices.permutations(range(size)))
    swapped = [position ^ 1 if position ^ 1 < size else position for position in sources]
    count = draw(choices.sampled_from([size, size, size, size, size // 2, max(size - 1, 0), 0]))
    pairs = list(zip(sources, draw(choices.sampled_from([destinations, swapped])), strict=True))[:count]
    misuse = draw(_MISUSE)
    if len(pairs) > 1 and misuse != "none":
        at = draw.one(sorted({1, len(pairs) - 1, 0}))
        # What is named again was named by the pair before or by one further away.
        one, (source, destination) = pairs[at], pairs[draw.one([at - 1, at - 1 - len(pairs) // 2])]
        pairs[at] = {
            "source": (source, one[1]),
            "destination": (one[0], destination),
            "beyond": (one[0], size),
            "negative": (one[0] - size, one[1]),
        }[misuse]
    return tuple(pairs)
