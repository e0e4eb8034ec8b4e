"""What a backend's claims say about a case."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from conformance.backends.base import Claims
from conformance.cases.features import Features

UNASKED: Final = ("effects", "faults")
"""Features of programs that only an operation whose claims name them is asked for."""


def supported(claims: Claims, ops: Iterable[str], facts: Features) -> str | None:
    """Return ``None`` when the claims cover a case, else the first claim that leaves it out."""
    for op in ops:
        if op not in claims:
            return f"{op} is not claimed"
        for feature, allowed in claims[op].items():
            outside = facts.get(feature, frozenset()) - set(allowed)
            if outside:
                return f"{op}: {feature} {', '.join(sorted(outside))} is not claimed"
    return unasked(claims, ops, facts)


def unasked(claims: Claims, ops: Iterable[str], facts: Features) -> str | None:
    """Return why a case is not even asked for: an operation's claims do not name the effects, or faults, it has."""
    for feature in UNASKED:
        silent = [op for op in ops if facts.get(feature) and feature not in claims.get(op, {})]
        if silent:
            return f"{silent[0]}: {feature} are not claimed"
    return None
