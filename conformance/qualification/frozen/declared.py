"""The same answers from somebody who declares something else: no number model, another word, more, fewer guarantees."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from msgspec.structs import replace

from conformance.backends import protocol
from conformance.cases.declarations.guarantees import PRESUPPOSES
from conformance.cases.declarations.number_model import KINDS, NumberModelError
from conformance.cases.declarations.terms import SYSTEMS


def declared(ready: protocol.Ready, random: Random) -> Iterator[tuple[str, protocol.Ready]]:
    """Yield introductions that declare something else, each with the word for it, in an order that is drawn."""
    made: list[tuple[str, dict[str, Any]]] = [
        ("nothing declared", {"number_model": {}}),
        ("no guarantee", {"guarantees": ()}),
        ("every guarantee", {"guarantees": tuple(PRESUPPOSES)}),
        *((f"follows {name}", {"follows": (name,)}) for name in SYSTEMS),
        *(
            (f"{kind}: {word}", {"number_model": {**ready.number_model, **_needed(kind), kind: word}})
            for kind, words in KINDS.items()
            for word in words
        ),
    ]
    random.shuffle(made)
    for word, fields in made:
        if any(getattr(ready, name) != value for name, value in fields.items()):
            try:
                yield word, replace(ready, **fields)
            except NumberModelError:
                continue


def _needed(kind: str) -> dict[str, str]:
    """Return what a kind of words presupposes."""
    return {"accumulate": "float64"} if kind == "between" else {}
