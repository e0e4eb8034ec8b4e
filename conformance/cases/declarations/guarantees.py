"""Guarantees: what a backend may promise of the bits of its reductions, beyond their being right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

Guarantee = Literal[
    "ranks_agree",
    "size",
    "position",
    "rank_relabelling",
    "group_relabelling",
    "coalescing",
    "history",
    "run_to_run",
]

PRESUPPOSES: Final[dict[Guarantee, tuple[Guarantee, ...]]] = {
    "ranks_agree": (),
    "size": ("position",),
    "position": ("history",),
    "rank_relabelling": ("history",),
    "group_relabelling": ("history",),
    "coalescing": ("history",),
    "history": ("run_to_run",),
    "run_to_run": (),
}
"""Every guarantee, with those it means nothing without: what changes from call to call depends on nothing else either,
and when a block is cut its elements move."""


def check_guarantees(names: Sequence[str]) -> None:
    """Raise ``ValueError`` for a name that is no guarantee and for one given without those it presupposes."""
    known: dict[str, tuple[Guarantee, ...]] = dict(PRESUPPOSES)  # type: ignore[arg-type]  # to look up any word
    for name in names:
        if name not in known:
            raise ValueError(f"unknown guarantee {name!r}; known are {', '.join(known)}")
        missing = [other for other in known[name] if other not in names]
        if missing:
            raise ValueError(f"the guarantee {name!r} means nothing without {missing[0]!r}; give both or neither")
