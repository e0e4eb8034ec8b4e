"""The words for how a collective is done in parts, each with the bytes that an all_reduce may move by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final


def _each_to_each(members: int) -> int:
    return members * (members - 1)


def _twice_round(members: int) -> int:
    return 2 * (members - 1)


BLOCKS: Final[Mapping[str, Callable[[int], int]]] = {
    "": _each_to_each,
    "naive": _each_to_each,
    "one_shot": _each_to_each,
    "ring": _twice_round,
    "all_to_all": _twice_round,
    "direct": _twice_round,
    "tree": _twice_round,
}
"""Blocks that an all_reduce of so many members moves at most between them, by algorithm; none is named by ``""``."""

TO_ONE: Final = ("ring to one", "all_to_all to one")
"""What a ``reduce`` is done by that gives the whole to one member: pieces as of an all_reduce, then to the root."""

ALGORITHMS: Final = (*BLOCKS, *TO_ONE)
"""Every word that ``Collective.algorithm`` may be."""
