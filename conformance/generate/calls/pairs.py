"""Pairs of sources and destinations, legal and barely illegal."""

from __future__ import annotations

from typing import Final

from conformance.generate import choices
from conformance.generate.calls.mistakes import wrong
from conformance.specs.families.pairs import Pairs

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
