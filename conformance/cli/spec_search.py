"""``conformance spec --search``: the sentences that hold some words, the best first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import log
from typing import Any, Final, NamedTuple

from conformance.cli.names import unlike
from conformance.cli.spec_paths import normal

Data = dict[str, Any]

FEW: Final = 5
"""As many sentences are shown that have some of the words."""

STEM: Final = 4
"""Letters that a word keeps when its ending is taken off."""

_COMMON: Final = (
    "a across an and another are as at be between by can do does for from get happen happens how i if in into is it "
    "its my "
    "not of on or other should than that the "
    "their then there they this to use using what when where which while who why will with you"
)
COMMON: Final = frozenset(_COMMON.split())
"""Words of questions that tell nothing. ``and`` and ``or`` are reductions, too: alone they are looked for."""


GENERAL: Final = frozenset(("tensor", "tensors", "collective", "collectives", "rank", "ranks", "device", "devices"))
"""Words that hold of nearly everything here."""

FOLDS: Final = {"pmean": "mean", "avg": "mean", "pmax": "max", "pmin": "min", "psum": "sum"}
"""What names fold by, for sentences about the reduction."""


class MatchingSentence(NamedTuple):
    """A sentence by the name of what it is of, and the words of the question that it has."""

    name: str
    text: str
    has: tuple[str, ...]


def asked(words: str) -> list[str]:
    """Return the words of a question that tell something, or all of them where none does."""
    every = [word.strip("?!,;:'\"`") for word in words.casefold().split()]
    every = [word for word in every if word]
    return [word for word in every if word not in COMMON] or every


def strong(answers: Data, words: str) -> list[str]:
    """Return the words that a sentence has to have: not those that operations and frameworks are called by.

    What holds of every operation does not name the one that is asked about. Names alone are looked for.
    """
    wanted = list(dict.fromkeys(asked(words)))
    frameworks = {row["framework"] for row in answers["names"]}
    called = {normal(name) for name in (*answers["operations"], *answers["aliases"], *frameworks)} | GENERAL
    return [word for word in wanted if normal(word.rpartition(".")[2]) not in called] or wanted


def searched(answers: Data, words: str) -> list[MatchingSentence]:
    """Return the sentences with the most of the words, those first that are named by them, then those of rarer words.

    They have all ``strong`` words where any sentence has all of them. A word is had with any ending: ``gathers`` by
    ``gather``.
    """
    wanted, needed = list(dict.fromkeys(asked(words))), set(strong(answers, words))
    held = [(name, text, f"{name} {text}".casefold()) for name, text in answers["sentences"]]
    forms = {word: _forms(word) for word in wanted}
    has = [tuple(word for word in wanted if any(form in whole for form in forms[word])) for _, _, whole in held]
    many = {word: sum(word in each for each in has) for word in wanted}
    worth = {word: log(1 + len(held) / count) for word, count in many.items() if count}
    found = [MatchingSentence(name, text, each) for (name, text, _), each in zip(held, has, strict=True) if each]
    whole = [each for each in found if needed <= set(each.has)]
    if whole:
        return sorted(whole, key=lambda each: -len(each.has) - _named(each.name, each.text, forms))
    ranked = sorted(
        found, key=lambda each: -sum(worth[word] for word in each.has) - _named(each.name, each.text, forms)
    )
    return ranked[:FEW]


def spoken_of(answers: Data, word: str) -> bool:
    """Return whether a word that nothing is called by stands, whole, in a few sentences."""
    whole = re.compile(rf"(?<![\w.]){re.escape(word.casefold())}(?![\w.]*\w)")
    holding = sum(bool(whole.search(" ".join(each).casefold())) for each in answers["sentences"])
    return 0 < holding <= FEW


def missing(answers: Data, words: str, found: Sequence[MatchingSentence]) -> str:
    """Return the line that says that no sentence has all of the words, what the best one has, and what is near."""
    said = f"no sentence of the specification has all of {words!r}"
    if found:
        lacks = [word for word in strong(answers, words) if word not in found[0].has]
        return f"{said}; the best, {found[0].name}, has {_listed(found[0].has)} and not {_listed(lacks)}"
    near = unlike("word", words, [word for entry in answers["entries"] for word in entry["words"]])
    return f"{said}; {near}" if "did you mean" in near else f"{said}; try other words"


def _listed(words: Iterable[str]) -> str:
    return ", ".join(repr(word) for word in words)


def _forms(word: str) -> tuple[str, ...]:
    stem = re.sub(r"(ings?|ed|es|s)$", "", word)
    also = (FOLDS[word],) if word in FOLDS else ()
    return (word, stem, *also) if len(stem) >= STEM else (word, *also)


def _named(name: str, text: str, forms: dict[str, tuple[str, ...]]) -> float:
    """Return the share of the words that a sentence is named by: in its title, or in the words that lead to it."""
    title, listed = name.casefold(), text[text.rfind("[") :].casefold() if text.endswith("]") else ""
    in_title = sum(any(form in title for form in each) for each in forms.values())
    in_words = sum(any(form in listed for form in each) for each in forms.values())
    return (in_title + in_words / 2) / len(forms)
