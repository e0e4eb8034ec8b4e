"""Which declaration would admit results that no declared number model has."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import islice

from conformance.cases.declarations.number_model import KINDS, NumberModelError, Words, number_model, word_of
from conformance.cases.tensor.dtypes import Array
from conformance.judging.numbers.classes import classes_of, reachable
from conformance.judging.numbers.column import Column, parts_of
from conformance.reference.reductions import ORDER

Outside = tuple[Column, Array, Words]
"""The terms of an element, a value that is not admissible, and the words that are declared."""

ASKED = 2
"""Elements that a declaration has to admit to be named; each takes some milliseconds."""

NAMED = 3
"""Declarations that are named, at most."""


def advice(outside: Sequence[Outside]) -> str:
    """Return, to end a sentence with, the declaration that admits elements that are not admissible; or nothing."""
    some = [each for each in outside[:ASKED] if _worth(*each[:2])]
    if len(some) < min(len(outside), ASKED) or any(_admits(*each, ()) for each in some):
        return ""  # Nothing is near, or every *must* admits it as it is and no word of numbers is about it.
    dtype, words = some[0][0].dtype, some[0][2]
    fit = (more for more in _more(words) if all(_admits(terms, value, words, more) for terms, value, _ in some))
    named = [json.dumps({kind: {dtype: word} for kind, word in more}) for more in islice(fit, NAMED)]
    return f"; if that is how it computes, declare number_model = {' or '.join(named)}" if named else ""


def _worth(terms: Column, value: Array) -> bool:
    """Return whether some number model may admit a value: one near the exact one, zero, or at an end of the format."""
    if terms.complex or (terms.op not in ORDER and reachable(terms)[1] is None):
        return False  # of so many terms almost any number model says almost the same
    if not (terms.finite or any(math.isinf(float(part)) for part, _ in terms.parts)):
        return False
    part = parts_of(value)[0][0]
    if terms.op in ORDER or not terms.finite or not isinstance(part, Fraction):
        return True
    if part == 0 or abs(part) == terms.format.greatest:
        return True
    size = terms.magnitude[0] * len(terms.terms)
    return abs(part - terms.exact[0]) <= 8 * terms.format.unit * size + 2 * len(terms.terms) * terms.format.normal


def _more(words: Words) -> Iterator[tuple[tuple[str, str], ...]]:
    """Yield what may be declared beside the words, or instead of one: one word, or two about partial results."""
    other = [(kind, word) for kind in KINDS for word in list(KINDS[kind])[1:] if word_of(words, kind) != word]
    yield from ((each,) for each in other)
    wider = [each for each in other if each[0] == "accumulate"]
    yield from ((one, two) for one in wider for two in other if two[0] == "between")


def _admits(terms: Column, value: Array, words: Words, more: Sequence[tuple[str, str]]) -> bool:
    changed = _declared(terms.dtype, terms.op, frozenset((dict(words) | dict(more)).items()))
    content = (terms.dtype, terms.op, terms.factor, terms.content, value.tobytes())
    return changed is not None and bool(classes_of(*content, exact=False, words=changed))


@lru_cache(maxsize=4096)
def _declared(dtype: str, op: str, words: Words) -> Words | None:
    """Return what words about a dtype come to, once declared, for a reduction of it; ``None`` where they cannot be."""
    try:
        return number_model({kind: {dtype: word} for kind, word in words}).words(dtype, op)
    except NumberModelError:
        return None
