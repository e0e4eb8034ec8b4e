"""Claims held against the words that there are: a misspelt one would limit nothing, or everything, in silence."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping
from difflib import get_close_matches
from functools import cache

from conformance.backends.base import Claims
from conformance.backends.claim_limits import UNASKED
from conformance.backends.discovery import DeclarationError
from conformance.backends.protocol import Ready
from conformance.cases.declarations.terms import Terms
from conformance.cases.program.feature_words import COUNTED
from conformance.judging.clause import Needs
from conformance.runner.dialects import operations


def introduced(ready: Ready) -> Ready:
    """Return ``ready``; raise ``DeclarationError`` for an operation, feature or word of its claims that is none.

    The message names it, where it is, and the nearest that there is.
    """
    check_claims(ready.claims)
    return ready


def check_claims(claims: Claims) -> None:
    """Raise ``DeclarationError`` for an operation, feature or word that is none."""
    limitable = {op: dialect.features for op, dialect in operations().items()}
    for op, limits in claims.items():
        _known("claims", "operation", op, limitable)
        features = limitable[op]
        for feature, words in limits.items():
            _known(f"claims of {op}", "feature", feature, features)
            for word in words:
                if feature not in COUNTED:
                    _known(f"claims of {op}", f"word of {feature}", word, features[feature])
                elif not (word.isascii() and word.isdecimal()):
                    raise DeclarationError(
                        f"claims of {op}: {feature} {word!r} is no whole number in digits; write '1', '2', ..."
                    )


def left_out(clause: str, needs: Needs, ops: Iterable[str], claims: Claims) -> bool:
    """Return whether claims leave out every case of ``ops`` that a clause is about, by what it ``needs`` of each.

    Effects and faults are not asked for where claims do not name them; any other feature is limited by being named.
    """
    mine = [op for op in ops if op in claims and clause in _clauses(op)]
    return bool(claims) and all(any(_excludes(claims[op], name, words) for name, words in needs) for op in mine)


def _excludes(limits: Mapping[str, Collection[str]], feature: str, words: Collection[str]) -> bool:
    if feature in UNASKED or feature in limits:
        return not set(words) & set(limits.get(feature, ()))
    return False


@cache
def _clauses(op: str) -> Container[str]:
    """Return the clauses that cases of an operation may make speak: of one that is not known, all."""
    return frozenset(each.id for each in operations()[op].own(op, Terms())) if op in operations() else _Every()


class _Every:
    def __contains__(self, _: object) -> bool:
        return True


def _known(where: str, what: str, given: str, known: Iterable[str]) -> None:
    known = list(known)
    if given not in known:
        # Case counts in the words, and not in what is meant.
        folded = {word.lower(): word for word in reversed(known)}
        near = get_close_matches(given.lower(), folded, n=1, cutoff=0.5)
        meant = f"did you mean {folded[near[0]]!r}? " if near else ""
        listed = f"known are {', '.join(known)}" if known else "it has none"
        raise DeclarationError(f"{where}: unknown {what} {given!r}; {meant}{listed}")
