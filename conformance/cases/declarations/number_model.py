"""Number models: what a backend may choose about numbers, and says that it chose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Final

import ml_dtypes

from conformance.cases.tensor.dtypes import DRAWN, NUMPY, kind

Declared = Mapping[str, str | Mapping[str, str]]
"""For each kind a word, or a word for each dtype: ``{"mean": "reciprocal", "accumulate": {"float16": "float32"}}``."""

Words = frozenset[tuple[str, str]]
"""What is chosen for one dtype: pairs of a kind and a word, without the words that hold where nothing is said."""

KINDS: Final[dict[str, dict[str, str]]] = {
    "subnormals": {
        "kept": "subnormal numbers are numbers",
        "flushed": "an operation takes subnormal terms for zeros, and gives zero for a subnormal result",
        "flushed_terms": "an operation takes subnormal terms for zeros",
        "flushed_results": "an operation gives zero for a subnormal result",
    },
    "overflow": {
        "standard": "what is past the greatest number is an infinity, or NaN in a format without one",
        "saturated": "what is past the greatest number, or infinite, is converted to the greatest number",
    },
    "mean": {
        "division": "the sum is divided by the count",
        "reciprocal": "the sum is multiplied by the rounded inverse of the count",
        "divided_terms": "each term is divided by the count, and the quotients are added",
        "scaled_terms": "each term is multiplied by the rounded inverse of the count, and the products are added",
    },
    "multiply_add": {
        "rounded": "a scaled term is rounded before it is added",
        "fused": "a scaled term is added before it is rounded",
    },
    "accumulate": {
        "own": "every partial result is rounded to the dtype of the terms",
        "bfloat16": "partial results are bfloat16",
        "float16": "partial results are float16",
        "float32": "partial results are float32",
        "float64": "partial results are float64",
        "extended": "partial results have 64 significant bits, as on the 80-bit registers of x87",
    },
    "between": {
        "accumulated": "partial results stay as they are accumulated until the end",
        "own": "some partial results are rounded to the dtype of the terms, as when they are sent",
        "bfloat16": "some partial results are rounded to bfloat16, as when they are sent",
        "float16": "some partial results are rounded to float16, as when they are sent",
        "float32": "some partial results are rounded to float32, as when they are sent",
    },
}
"""Every kind with its words and what they say. The first word of a kind holds where nothing is declared.

A new word is one row here, and one in ``judging.carried`` that says what it comes to.
"""

FLOATS: Final = tuple(name for name in DRAWN if kind(name) == "float")
"""The dtypes that words are for; complex numbers are made of them."""

_EXTENDED: Final = (64, -16445, 16384)


class NumberModelError(ValueError):
    """A number model that is none; the message names what is wrong and the right words, in one line."""


def extent(name: str) -> tuple[int, int, int]:
    """Return the significant bits of a float format, and the exponents of its least and past its greatest number."""
    if name == "extended":
        return _EXTENDED
    info = ml_dtypes.finfo(NUMPY[name])
    return info.nmant + 1, int(info.minexp) - info.nmant, int(info.maxexp)


def covers(wide: str, narrow: str) -> bool:
    """Return whether every number of the format ``narrow`` is one of ``wide``, which has more."""
    (bits, least, most), (own, low, high) = extent(wide), extent(narrow)
    return (bits, least, most) != (own, low, high) and bits >= own and least <= low and most >= high


@dataclass(frozen=True)
class NumberModel:
    """What was chosen, checked: ``chosen`` are (dtype, kind, word), sorted, without the words that hold anyway."""

    chosen: tuple[tuple[str, str, str], ...] = ()

    @cached_property
    def _by_dtype(self) -> dict[str, Words]:
        return {
            dtype: frozenset((kind, word) for at, kind, word in self.chosen if at == dtype)
            for dtype in {at for at, _, _ in self.chosen}
        }

    def words(self, dtype: str) -> Words:
        """Return what is chosen for a dtype; a complex one has the choices of its parts."""
        if not self.chosen:
            return DEFAULT
        return self._by_dtype.get({"complex64": "float32", "complex128": "float64"}.get(dtype, dtype), DEFAULT)


DEFAULT: Final[Words] = frozenset()
"""Nothing chosen."""

STANDARD: Final = NumberModel()
"""The model of a backend that declares none."""


def word_of(words: Words, kind: str) -> str:
    """Return the word of a kind that holds."""
    return next((word for name, word in words if name == kind), next(iter(KINDS[kind])))


def number_model(declared: Declared) -> NumberModel:
    """Return what was declared, checked.

    Raise ``NumberModelError`` for an unknown kind, word or dtype, for two words of one kind, for partial results that
    cannot hold the terms, and for a word that no dtype can have.
    """
    if not isinstance(declared, Mapping):
        raise NumberModelError(f"number model: it is a mapping of {', '.join(KINDS)}, not {declared!r}")
    chosen: dict[str, dict[str, str]] = {dtype: {} for dtype in FLOATS}
    for name, value in declared.items():
        _known("kind", name, KINDS)
        for dtype, word in _by_dtype(name, value):
            chosen[dtype][name] = word
    for name, value in declared.items():
        _fits(name, value, chosen)
    return NumberModel(
        tuple(
            sorted(
                (dtype, name, word)
                for dtype, words in chosen.items()
                for name, word in words.items()
                if word != next(iter(KINDS[name])) and not _misfit(dtype, name, words)
            )
        )
    )


def _by_dtype(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the dtypes and words of one kind."""
    for dtype, word in value.items() if isinstance(value, Mapping) else [(dtype, value) for dtype in FLOATS]:
        if dtype in ("complex64", "complex128"):
            raise NumberModelError(
                f"number model: {name}: {dtype} follows its parts; name {'float32' if dtype[-1] == '4' else 'float64'}"
            )
        _known(f"dtype of {name}", dtype, FLOATS)
        if isinstance(word, list | tuple | set | frozenset):
            raise NumberModelError(
                f"number model: {name}: {_listed(word)} exclude each other; choose one of {', '.join(KINDS[name])}"
            )
        _known(f"word of {name}", word, KINDS[name])
        yield dtype, word


def _known(what: str, given: Any, words: Any) -> None:
    if given not in tuple(words):
        near = get_close_matches(str(given), list(words), n=1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        raise NumberModelError(f"number model: unknown {what} {given!r}; {meant}known are {', '.join(words)}")


def _listed(words: Any) -> str:
    return " and ".join(repr(word) for word in words) or "no words"


def _fits(name: str, value: Any, chosen: Mapping[str, Mapping[str, str]]) -> None:
    """Raise for a word that a dtype it is named for cannot have, or that no dtype can have."""
    dtypes = tuple(value) if isinstance(value, Mapping) else FLOATS
    problems = [problem for dtype in dtypes if (problem := _misfit(dtype, name, chosen[dtype])) is not None]
    if problems and (isinstance(value, Mapping) or len(problems) == len(dtypes)):
        raise NumberModelError(f"number model: {problems[0]}")


def _misfit(dtype: str, name: str, words: Mapping[str, str]) -> str | None:
    """Return why a dtype cannot have its word of a kind, or ``None``."""
    word, accumulate = words[name], words.get("accumulate", "own")
    if name == "accumulate" and word != "own" and not covers(word, dtype):
        wider = [name for name in KINDS["accumulate"] if name != "own" and covers(name, dtype)]
        return f"accumulate: {word} does not hold every {dtype}; wider are {', '.join(wider)}"
    if name != "between" or word == "accumulated":
        return None
    if accumulate == "own" or not covers(accumulate, dtype):
        return f"between: {word!r} means nothing for {dtype}, whose partial results are its own; declare accumulate too"
    if word != "own" and not (covers(word, dtype) and covers(accumulate, word)):
        return f"between: {word} is not between {dtype} and {accumulate}; say 'own' or a format that holds {dtype}"
    return None
