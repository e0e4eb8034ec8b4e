"""Interaction coverage: which words of a table of features met in some case, by pairs and triples, and which trigrams.

Feasible is every combination but those that a table excludes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import Final

import msgspec

Situation = Mapping[str, str]

LARGEST: Final = 8
"""Holes that are listed."""


class Share(msgspec.Struct, frozen=True):
    """How many of the feasible combinations were met."""

    met: int
    feasible: int

    @property
    def part(self) -> float:
        """Return the share, 1 where nothing is feasible."""
        return self.met / self.feasible if self.feasible else 1.0


class Interactions(msgspec.Struct, frozen=True, kw_only=True):
    """What met in the cases of a run.

    ``holes`` are the largest: pairs that never met, then words, or steps of trigrams, with how many of their
    combinations are missing.
    """

    pairs: Share
    triples: Share
    trigrams: Share
    holes: tuple[str, ...]


def interactions(
    situations: Sequence[Situation],
    trigrams: Iterable[tuple[str, str, str]],
    features: Mapping[str, Sequence[str]],
    classes: Sequence[str],
    excluded: Sequence[Situation] = (),
) -> Interactions:
    """Return what met in ``situations``, and in ``trigrams`` of ``classes``, of all that is feasible."""
    missing: dict[int, list[tuple[tuple[str, str], ...]]] = {}
    shares: dict[int, Share] = {}
    for size in (2, 3):
        met = feasible = 0
        missing[size] = []
        for names in combinations(features, size):
            seen = {tuple(each[name] for name in names) for each in situations}
            for words in product(*(features[name] for name in names)):
                what = tuple(zip(names, words, strict=True))
                if any(each.items() <= dict(what).items() for each in excluded):
                    continue
                feasible += 1
                met += words in seen
                if words not in seen:
                    missing[size].append(what)
        shares[size] = Share(met, feasible)
    known = set(trigrams)
    lost = [each for each in product(classes, repeat=3) if each not in known]
    return Interactions(
        pairs=shares[2],
        triples=shares[3],
        trigrams=Share(len(classes) ** 3 - len(lost), len(classes) ** 3),
        holes=_holes(missing[2], missing[3], lost),
    )


def _holes(
    pairs: Sequence[tuple[tuple[str, str], ...]],
    triples: Sequence[tuple[tuple[str, str], ...]],
    trigrams: Sequence[tuple[str, ...]],
) -> tuple[str, ...]:
    found = [" with ".join(f"{name} {word}" for name, word in pair) for pair in pairs[:LARGEST]]
    words = Counter(" with ".join(f"{name} {word}" for name, word in each[:2]) for each in triples)
    words.update(" with ".join(f"{name} {word}" for name, word in each[1:]) for each in triples)
    steps = Counter(f"{one} before {other}" for first, middle, last in trigrams
                    for one, other in ((first, middle), (middle, last)))  # fmt: skip
    found += [f"{name}: {count} triples" for name, count in words.most_common(LARGEST - len(found))]
    return (*found, *(f"{name}: {count} trigrams" for name, count in steps.most_common(LARGEST // 2)))
