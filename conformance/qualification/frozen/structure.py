"""Other structures: one small change somewhere in data that is made of fields, lists and words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any, Final, TypeVar

import msgspec

T = TypeVar("T")

WIDTHS: Final[dict[str | None, tuple[str, ...]]] = {
    "float16": ("float32",),
    "bfloat16": ("float32",),
    "float32": ("float64", "float16", "int32"),
    "float64": ("float32",),
    "int32": ("int64", "int16", "float32"),
    "int64": ("int32",),
    "bool": ("uint8",),
}
"""Dtypes with a wider one, a narrower one, or one of another kind."""

TRIED: Final = 8
"""Changes that are tried until one gives data of the same kind."""


def otherwise(made: T, random: Random, *, of: tuple[str, ...] = ()) -> tuple[str, T] | None:
    """Return a struct with one field, list or word somewhere in it changed, and which; ``None`` where nothing fits.

    Every field's name has the same chance, however often it occurs. With ``of`` only these fields of the top change.
    """
    data = msgspec.json.decode(msgspec.json.encode(made))
    below = {name: data[name] for name in of if data.get(name)} if of else data
    fields: dict[str, list[tuple[tuple[Any, ...], Any]]] = {}
    for way, field, value in _values(below, (), ""):
        fields.setdefault(field, []).append((way, value))
    for _ in range(TRIED if fields else 0):
        field = random.choice(sorted(fields))
        way, value = random.choice(fields[field])
        changes = [*_changes(value, [each for _, each in fields[field]], random), *_widths(field, value)]
        if not changes:
            continue
        word, change = random.choice(changes)
        try:
            return f"{word} in {field}", msgspec.convert(_with(data, way, change), type(made))
        except (msgspec.ValidationError, ValueError, KeyError, IndexError):
            continue
    return None


def _values(data: Any, way: tuple[Any, ...], field: str) -> Iterator[tuple[tuple[Any, ...], str, Any]]:
    if way:
        yield way, field, data
    if isinstance(data, dict):
        for name, each in data.items():
            yield from _values(each, (*way, name), name)
    elif isinstance(data, list):
        for at, each in enumerate(data):
            yield from _values(each, (*way, at), field)


def _changes(value: Any, others: list[Any], random: Random) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Yield what may stand in the place of a value; ``others`` are those of the same field."""
    if isinstance(value, bool):
        yield "the other bool", lambda old: not old
    elif isinstance(value, int):
        yield "one more", lambda old: old + 1
        yield "one less", lambda old: old - 1
    elif isinstance(value, list) and value:
        at = random.randrange(len(value))
        yield "one dropped", lambda old: [*old[:at], *old[at + 1 :]]
        yield "one twice", lambda old: [*old[: at + 1], *old[at:]]
        if len(value) > 1:
            yield "reversed", lambda old: old[::-1]
    elif isinstance(value, dict) and value:
        name = random.choice(sorted(value))
        yield "one dropped", lambda old: {key: each for key, each in old.items() if key != name}
    different = [each for each in others if type(each) is type(value) and each != value]
    if different:
        chosen = random.choice(different)
        yield "another's", lambda _: chosen


def _widths(field: str, value: Any) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Yield the dtypes next to one, of what is kept, or accumulated, in it."""
    for word in WIDTHS.get(value, ()) if field in ("dtype", "acc") else ():
        yield "another width", partial(_instead, word)


def _instead(made: Any, _: Any) -> Any:
    return made


def _with(data: Any, way: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    first, *rest = way
    inner = change(data[first]) if not rest else _with(data[first], tuple(rest), change)
    if isinstance(data, dict):
        return {**data, first: inner}
    return [*data[:first], inner, *data[first + 1 :]]
