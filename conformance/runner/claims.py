"""Claims held against the words that there are: a misspelt one would limit nothing, or everything, in silence."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from conformance.backends.base import Claims
from conformance.backends.discovery import DeclarationError
from conformance.backends.protocol import Ready
from conformance.cases.program.feature_words import COUNTED
from conformance.runner.dialects import operations


def introduced(ready: Ready) -> Ready:
    """Return ``ready``; raise ``DeclarationError`` for an operation, feature or word of its claims that is none.

    The message names it, where it is, and the nearest that there is.
    """
    check_claims(ready.claims)
    return ready


def check_claims(claims: Claims) -> None:
    """Raise ``DeclarationError`` for an operation, feature or word that is none."""
    limitable = {op: dialect.features for op, dialect in operations().items() if dialect.features}
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


def _known(where: str, what: str, given: str, known: Iterable[str]) -> None:
    known = list(known)
    if given not in known:
        # Case counts in the words, and not in what is meant.
        folded = {word.lower(): word for word in reversed(known)}
        near = get_close_matches(given.lower(), folded, n=1, cutoff=0.5)
        meant = f"did you mean {folded[near[0]]!r}? " if near else ""
        listed = f"known are {', '.join(known)}" if known else "it has none"
        raise DeclarationError(f"{where}: unknown {what} {given!r}; {meant}{listed}")
