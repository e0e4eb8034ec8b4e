"""Number models: what a backend may choose about numbers, and says that it chose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Final

import ml_dtypes

from conformance.cases.tensor.dtypes import DRAWN, NUMPY, kind

Declared = Mapping[str, str | Mapping[str, str | Mapping[str, str]]]
"""For each kind a word, or for each dtype a word, or for each reduction of a dtype a word:
``{"mean": "reciprocal", "accumulate": {"float16": "float32", "float8_e5m2": {"sum": "float32"}}}``."""

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
        "exact": "every bit of a partial result is kept, and what all terms come to is rounded once",
        "compensated": "what each addition rounds off is added up beside the sum, and added to it at the end",
    },
    "between": {
        "accumulated": "partial results stay as they are accumulated until the end",
        "own": "some partial results are rounded to the dtype of the terms, as when they are sent",
        "bfloat16": "some partial results are rounded to bfloat16, as when they are sent",
        "float16": "some partial results are rounded to float16, as when they are sent",
        "float32": "some partial results are rounded to float32, as when they are sent",
    },
    "intermediates": {
        "rounded": "what an operation of a graph gives is rounded to its dtype",
        "excess": "what operations of 16 bits that are computed together give stays float32 until it is stored",
    },
}
"""Every kind with its words and what they say. The first word of a kind holds where nothing is declared.

A new word is one row here, and one in ``judging.carried`` that says what it comes to.
"""

BEYOND: Final = ("exact", "compensated")
"""The words for accumulators that are no format, but keep what a format would round off."""

SHORT: Final = ("float16", "bfloat16")
"""The dtypes of which compilers keep intermediate values in float32."""

FLOATS: Final = tuple(name for name in DRAWN if kind(name) == "float")
"""The dtypes that words are for; complex numbers are made of them."""

REDUCTIONS: Final = ("sum", "mean", "premul_sum", "product", "max", "min")
"""The reductions that words are for."""

Place = tuple[str, str]
"""A dtype and a reduction."""

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
    """What was chosen, checked: ``chosen`` are (where, kind, word), sorted, without the words that hold anyway.

    Where is a dtype, or ``float16:sum`` for one reduction of a dtype.
    """

    chosen: tuple[tuple[str, str, str], ...] = ()

    @cached_property
    def _by_place(self) -> dict[Place, tuple[frozenset[tuple[str, str, str]], Words]]:
        found = {}
        for dtype in {where.partition(":")[0] for where, _, _ in self.chosen}:
            for op in REDUCTIONS:
                own = frozenset(each for each in self.chosen if each[0] in (dtype, f"{dtype}:{op}"))
                found[dtype, op] = own, frozenset((kind, word) for _, kind, word in own)
        return found

    def words(self, dtype: str, op: str) -> Words:
        """Return what is chosen for a reduction of a dtype; a complex one has the choices of its parts."""
        return self._at(dtype, op)[1] if self.chosen else DEFAULT

    def declared(self, dtype: str, op: str) -> frozenset[tuple[str, str, str]]:
        """Return what is chosen for a reduction of a dtype as it stands among ``chosen``."""
        return self._at(dtype, op)[0]

    def _at(self, dtype: str, op: str) -> tuple[frozenset[tuple[str, str, str]], Words]:
        real = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
        return self._by_place.get((real, op), (frozenset(), DEFAULT))


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
    places = [(dtype, op) for dtype in FLOATS for op in REDUCTIONS]
    chosen: dict[Place, dict[str, str]] = {place: {} for place in places}
    for name, value in declared.items():
        _known("kind", name, KINDS)
        for some, word in _said(name, value):
            for place in some:
                chosen[place][name] = word
    for name, value in declared.items():
        for some, _ in _said(name, value):
            problems = [problem for place in some if (problem := _misfit(place[0], name, chosen[place])) is not None]
            if some and len(problems) == len(some):
                raise NumberModelError(f"number model: {problems[0]}")
    held = {
        (*place, name): word
        for place, words in chosen.items()
        for name, word in words.items()
        if word != next(iter(KINDS[name])) and not _misfit(place[0], name, words)
    }
    return NumberModel(tuple(sorted({(_where(held, *place), place[2], word) for place, word in held.items()})))


def _where(held: Mapping[tuple[str, str, str], str], dtype: str, op: str, name: str) -> str:
    """Return a dtype, where all reductions of it have one word of a kind, else the dtype with the reduction."""
    alike = len({held.get((dtype, each, name)) for each in REDUCTIONS}) == 1
    return dtype if alike else f"{dtype}:{op}"


def _said(name: str, value: Any) -> Iterator[tuple[list[Place], str]]:
    """Yield where each word of a kind was declared, all places of it together."""
    if not isinstance(value, Mapping):
        yield [(dtype, op) for dtype in FLOATS for op in REDUCTIONS], _word(name, value)
        return
    for dtype, words in value.items():
        if dtype in ("complex64", "complex128"):
            raise NumberModelError(
                f"number model: {name}: {dtype} follows its parts; name {'float32' if dtype[-1] == '4' else 'float64'}"
            )
        _known(f"dtype of {name}", dtype, FLOATS)
        if not isinstance(words, Mapping):
            yield [(dtype, op) for op in REDUCTIONS], _word(name, words)
            continue
        for op, word in words.items():
            _known(f"reduction of {name} of {dtype}", op, REDUCTIONS)
            yield [(dtype, op)], _word(name, word)


def _word(name: str, word: Any) -> str:
    if isinstance(word, list | tuple | set | frozenset):
        raise NumberModelError(
            f"number model: {name}: {_listed(word)} exclude each other; choose one of {', '.join(KINDS[name])}"
        )
    _known(f"word of {name}", word, KINDS[name])
    return str(word)


def _known(what: str, given: Any, words: Any) -> None:
    if given not in tuple(words):
        near = get_close_matches(str(given), list(words), n=1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        raise NumberModelError(f"number model: unknown {what} {given!r}; {meant}known are {', '.join(words)}")


def _listed(words: Any) -> str:
    return " and ".join(repr(word) for word in words) or "no words"


def _misfit(dtype: str, name: str, words: Mapping[str, str]) -> str | None:
    """Return why a dtype cannot have its word of a kind, or ``None``."""
    word, accumulate = words[name], words.get("accumulate", "own")
    if name == "intermediates" and word == "excess" and dtype not in SHORT:
        return f"intermediates: excess is of {' and '.join(SHORT)}, not of {dtype}"
    if name == "accumulate" and word not in ("own", *BEYOND) and not covers(word, dtype):
        wider = [name for name in KINDS["accumulate"] if name not in ("own", *BEYOND) and covers(name, dtype)]
        return f"accumulate: {word} does not hold every {dtype}; wider are {', '.join(wider)}"
    if name != "between" or word == "accumulated":
        return None
    return _misfit_between(dtype, word, accumulate)


def _misfit_between(dtype: str, word: str, accumulate: str) -> str | None:
    if accumulate in BEYOND:
        return f"between: {word!r} contradicts accumulate: {accumulate}, of which nothing is rounded before the end"
    if accumulate == "own" or not covers(accumulate, dtype):
        return f"between: {word!r} means nothing for {dtype}, whose partial results are its own; declare accumulate too"
    if word != "own" and not (covers(word, dtype) and covers(accumulate, word)):
        return f"between: {word} is not between {dtype} and {accumulate}; say 'own' or a format that holds {dtype}"
    return None
