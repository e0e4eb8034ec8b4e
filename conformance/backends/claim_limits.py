"""What a backend's claims say about a case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final

from conformance.backends.base import Claims
from conformance.cases.case import Case
from conformance.cases.program.features import features
from conformance.cases.program.health import health_case
from conformance.cases.program.program import Axis, Program

UNASKED: Final = ("effects", "faults", "computes")
"""Features of programs that only an operation whose claims name them is asked for."""

_PLACES: Final = {
    "world": frozenset({"of any size"}),
    "axes": frozenset({"none", "one", "several"}),
    "groups": frozenset({"none", "even", "uneven", "strided", "unsorted", "singletons"}),
    "meeting": frozenset({"world", "reordered", "groups"}),
}
"""Where a health program sums follows from the program before it: what that may be when claims do not limit it."""


def plain_claims(declared: Any) -> dict[str, dict[str, list[str]]]:
    """Return claims as JSON has them; raise ``TypeError`` for a value of the wrong type, naming it."""
    plain: dict[str, dict[str, list[str]]] = {}
    for op, limits in _mapping("claims", declared, "operations to their limits, such as {'broadcast': {}}").items():
        where = f"claims of {op}"
        named = _mapping(where, limits, "features to words, such as {'dtype': ['float32']}; {} limits nothing")
        plain[op] = {feature: _words(f"{where}: {feature}", words) for feature, words in named.items()}
    return plain


def _mapping(where: str, given: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise TypeError(f"{where} must be a mapping of {what}; got {given!r:.80}")
    for name in given:
        if not isinstance(name, str):
            raise TypeError(f"{where}: names are strings; got {name!r:.80}")
    return given


def _words(where: str, given: Any) -> list[str]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{where} must be a list of words, such as [{str(given)!r:.80}]; got {given!r:.80}")
    words = list(given)
    for word in words:
        if not isinstance(word, str):
            meant = str(word).lower() if isinstance(word, bool) else str(word)
            raise TypeError(f"{where}: words are strings; write {meant!r:.80}, not {word!r:.80}")
    return words


def supported(claims: Claims, ops: Iterable[str], facts: Mapping[str, AbstractSet[str]]) -> str | None:
    """Return ``None`` when the claims cover a case, else the first claim that leaves it out."""
    for op in ops:
        if op not in claims:
            return f"{op} is not claimed"
        for feature, allowed in claims[op].items():
            outside = facts.get(feature, frozenset()) - set(allowed)
            if outside:
                return f"{op}: {feature} {', '.join(sorted(outside))} is not claimed"
    return unasked(claims, ops, facts)


def outside(claims: Claims, met: Mapping[str, Mapping[str, AbstractSet[str]]]) -> str | None:
    """Return the first claim that leaves a case out: each operation's is held against what that one has ``met``."""
    told = (supported(claims, [op], words) for op, words in met.items())
    return next((claim for claim in told if claim is not None), None)


def unasked(claims: Claims, ops: Iterable[str], facts: Mapping[str, AbstractSet[str]]) -> str | None:
    """Return why a case is not even asked for: an operation's claims do not name the effects, or faults, it has."""
    for feature in UNASKED:
        silent = [op for op in ops if facts.get(feature) and feature not in claims.get(op, {})]
        if silent:
            return f"{silent[0]}: {feature} are not claimed"
    return None


def unhealthy(claims: Claims) -> str | None:
    """Return which claim leaves out the health program that comes after programs with ``faults``, if one does.

    An operation that claims ``faults`` needs an ``all_reduce`` that sums int32 wherever the operation itself may be.
    """
    nothing = Case(program=Program(mesh=(Axis("i", 1),), steps=(), results=()), inputs={})
    sums = features(health_case(nothing)) | {"world": frozenset()}
    # Over all axes of the mesh, whichever the operation is over.
    sums["axes"] |= {"several"}
    for op, limits in claims.items():
        if "faults" in limits:
            places = {name: frozenset(limits.get(name, words)) - {"invalid"} for name, words in _PLACES.items()}
            facts = sums | {name: sums[name] | words for name, words in places.items()}
            left_out = supported(claims, ("all_reduce",), facts)
            if left_out:
                return f"{op} claims faults, after which ranks sum int32 where they have met, but {left_out}"
    return None
