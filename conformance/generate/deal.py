"""The only clock: which kind of case the draw of a number is, by quota, the same for every dialect.

Of a round of draws so many grow as chains of steps, so many are rows of a covering array, so many are small calls of
what is enumerated, so many are motifs, and so many are illegal in one place. What kind a draw is follows from its
number, and what it is from its seed too; nothing else counts draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar, get_args

from conformance.generate.choices import Choice, DealtDraw, Draw, Kind

T = TypeVar("T")

ROUND: Final = 16
"""Draws of a round."""

QUOTAS: Final[Mapping[Kind, int]] = {"grown": 10, "row": 2, "call": 1, "motif": 1, "illegal": 2}
"""How many draws of a round are of each kind."""


def spread(quotas: Mapping[Kind, int], draws: int) -> tuple[Kind, ...]:
    """Return the kinds of a round, each as far from its like as can be.

    Raises ``ValueError`` where a kind is unknown, or has no quota, or the quotas do not add up to the draws.
    """
    unlike = sorted(set(quotas) ^ set(get_args(Kind)))
    if unlike:
        raise ValueError(f"quotas of draws are for the kinds {', '.join(get_args(Kind))}; {unlike[0]!r} is amiss")
    if sum(quotas.values()) != draws or min(quotas.values()) < 0:
        raise ValueError(f"the quotas {dict(quotas)} of a round do not add up to its {draws} draws")
    found: list[Kind] = []
    for number in range(draws):
        owed = {kind: quota * (number + 1) - draws * found.count(kind) for kind, quota in quotas.items()}
        found.append(max(owed, key=owed.__getitem__))
    return tuple(found)


_KINDS: Final = spread(QUOTAS, ROUND)


def dealt(seed: int, number: int) -> DealtDraw:
    """Return what the draw of a number is."""
    turn, at = divmod(number, ROUND)
    kind = _KINDS[at]
    return DealtDraw(kind, turn * QUOTAS[kind] + _KINDS[:at].count(kind), seed)


def dealing(
    name: str,
    grown: Choice[T],
    *,
    row: Choice[T] | None = None,
    call: Choice[T] | None = None,
    motif: Choice[T] | None = None,
    illegal: Choice[T] | None = None,
) -> Choice[T]:
    """Return the choice whose draws are of the kind that is dealt, under a name.

    Where there is none of what is dealt it is what is ``grown``, and so is the plainest draw, which is dealt nothing.
    """
    makers: dict[str, Choice[Any] | None] = {
        "grown": grown,
        "row": row,
        "call": call,
        "motif": motif,
        "illegal": illegal,
    }

    def make(draw: Draw) -> T:
        found: T = draw((makers[draw.dealt.kind] if draw.dealt else None) or grown)
        return found

    return Choice(make, name)
