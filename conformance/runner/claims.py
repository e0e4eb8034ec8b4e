"""Claims held against the words that there are: a misspelt one would limit nothing, or everything, in silence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Final, get_origin

from conformance.backends.base import Claims
from conformance.backends.discovery import DeclarationError
from conformance.backends.protocol import Ready
from conformance.cases.program.feature_words import (
    COUNTED,
    OF_NUMBER,
    OF_TRUTH,
    OF_TUPLE,
    PARTIAL,
    UNKNOWN_REDUCTION,
    WORDS,
    reduction_words,
)
from conformance.reference.reductions import REDUCTIONS
from conformance.reference.spmd import ATTRIBUTES
from conformance.specs import OPS


def _attribute_words(name: str, kind: Any) -> tuple[str, ...]:
    words = OF_TUPLE if get_origin(kind) is tuple else {bool: OF_TRUTH, int: OF_NUMBER}.get(kind, ())
    return (*words, PARTIAL[name]) if name in PARTIAL else words


_FEATURES: Final[Mapping[str, tuple[str, ...]]] = {
    **{name: _attribute_words(name, kind) for kinds in ATTRIBUTES.values() for name, kind in kinds.items()},
    **WORDS,
    **dict.fromkeys(COUNTED, ()),
    "op": (*REDUCTIONS, UNKNOWN_REDUCTION),
    "reduction": reduction_words(REDUCTIONS),
}
"""Every feature and its words. An operation may be limited in what only others have: programs have several."""


def introduced(ready: Ready) -> Ready:
    """Return ``ready``; raise ``DeclarationError`` for an operation, feature or word of its claims that is none.

    The message names it, where it is, and the nearest that there is.
    """
    check_claims(ready.claims)
    return ready


def check_claims(claims: Claims) -> None:
    """Raise ``DeclarationError`` for an operation, feature or word that is none."""
    for op, limits in claims.items():
        _known("claims", "operation", op, OPS)
        for feature, words in limits.items():
            _known(f"claims of {op}", "feature", feature, _FEATURES)
            for word in words:
                if feature not in COUNTED:
                    _known(f"claims of {op}", f"word of {feature}", word, _FEATURES[feature])
                elif not (word.isascii() and word.isdecimal()):
                    raise DeclarationError(
                        f"claims of {op}: {feature} {word!r} is no whole number in digits; write '1', '2', ..."
                    )


def _known(where: str, what: str, given: str, known: Iterable[str]) -> None:
    known = list(known)
    if given not in known:
        # Case counts in the words, and not in what is meant.
        folded = {word.lower(): word for word in reversed(known)}
        near = get_close_matches(given.lower(), folded, n=1, cutoff=0.5)
        meant = f"did you mean {folded[near[0]]!r}? " if near else ""
        listed = f"known are {', '.join(known)}" if known else "it has none"
        raise DeclarationError(f"{where}: unknown {what} {given!r}; {meant}{listed}")
