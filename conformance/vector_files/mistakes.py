"""The mistakes that cases catch, in a sentence each: the mutants that die of them, as the deck was measured."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from conformance.qualification import graph_mutants, sharded_mutants
from conformance.qualification.mutants import mutants
from conformance.qualification.typed_mutants import BY_OPERATION
from conformance.vectors.power import DeckKills


@cache
def stories() -> Mapping[str, str]:
    """Return the sentence of each mutant that somebody wrote, by name."""
    written = {each.__qualname__: each for each in mutants()}
    found = {name: _sentence(each) for name, each in {**written, **graph_mutants.MUTANTS}.items()}
    found |= {name: _sentence(each) for name, each in sharded_mutants.MUTANTS.items()}
    found |= {each.name: _line(each.text) for several in BY_OPERATION.values() for each in several}
    return {name: text or _words(name) for name, text in found.items()}


def caught(kills: DeckKills) -> tuple[list[list[str]], list[int]]:
    """Return for each case of the deck the written mutants that it kills, public ones first, and how many others."""
    names: list[list[str]] = [[] for _ in kills.cases]
    others = [0] * len(kills.cases)
    known = stories()
    for mutant in sorted(kills.mutants, key=lambda each: (each.half != "public", each.name)):
        for number in mutant.kills:
            if mutant.name in known:
                names[number].append(mutant.name)
            else:
                others[number] += 1
    return names, others


def _sentence(made: object) -> str:
    return _line(made.__doc__ or "")


def _words(name: str) -> str:
    """Return a name as a sentence, where that is all that was said."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).capitalize() + "."


def _line(text: str) -> str:
    return " ".join(text.strip().split("\n\n")[0].split())
