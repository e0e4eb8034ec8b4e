"""Cases for backends that claim less than everything: what shows most of all lies within few claims.

Of a deck that was chosen by what cases show alone 38 of 900 cases of collectives lay within the claims of MPI.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from typing import Final

import msgspec

from conformance.backends.base import Claims
from conformance.backends.claim_limits import outside, plain_claims
from conformance.qualification.deck.candidate import Candidate

PART: Final = 0.5
"""The part of the cases of a family that is chosen within the claims of one backend after the other."""

EVERYTHING: Final = ("reference", "opencl")
"""How the names of backends begin that claim all there is, or nearly."""


def published_claims() -> Mapping[str, Claims]:
    """Return the claims of the backends that are installed and start here, by name, each once."""
    found: dict[bytes, tuple[str, Claims]] = {}
    for point in sorted(entry_points(group="conformance.backends"), key=lambda each: each.name):
        if point.name.startswith(EVERYTHING):
            continue
        try:
            claims = plain_claims(point.load()().claims)
        except Exception:  # noqa: BLE001, S112 - its framework is not here, or says that it does not run
            continue
        found.setdefault(msgspec.json.encode(claims, order="deterministic"), (point.name, claims))
    return dict(found.values())


def within(candidates: Sequence[Candidate], claims: Claims) -> list[Candidate]:
    """Return the candidates that lie within claims."""
    return [
        each
        for each in candidates
        if outside(
            claims, {op: {name: frozenset(words) for name, words in of.items()} for op, of in each.features.items()}
        )
        is None
    ]
