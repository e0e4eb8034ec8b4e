"""Growth: how a chain of steps becomes longer, over the vocabulary of any dialect.

A vocabulary has a step for each word. Which words a chain draws from, its swarm, and where it forks are for who grows
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from conformance.generate.choices import Draw

C = TypeVar("C")


def grow(chain: C, vocabulary: Mapping[str, Callable[[C], object]], words: Iterable[str], *, plain: str = "") -> None:
    """Let a chain grow by a step for each word.

    A step that returns ``False`` found nothing to go on with: the ``plain`` one, if one is named, is made for it.
    """
    for word in words:
        if vocabulary[word](chain) is False and plain:
            vocabulary[plain](chain)


def words_of(draw: Draw, swarm: Sequence[str], count: int = 1) -> Iterator[str]:
    """Yield so many words of a swarm, each drawn when it is asked for: what a step draws comes between."""
    return (draw.one(swarm) for _ in range(count))
