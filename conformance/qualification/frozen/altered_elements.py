"""Answers with one element altered: a bit, a sign, a NaN, an infinity, a neighbour."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

import numpy as np
from msgspec.structs import replace

from conformance.cases.observation import Observation
from conformance.cases.tensor.dtypes import NUMPY, Array, kind
from conformance.cases.tensor.tensor import Tensor, from_array, to_array

Alter = Callable[[Observation, Random], Observation | None]
"""Gives another answer, ``None`` where one has nothing that could be altered so."""

Place = tuple[str, int]
"""A result and a rank."""


def places(seen: Observation, wanted: Callable[[Tensor], bool] = lambda _: True) -> list[Place]:
    """Return where there is a tensor, and a ``wanted`` one."""
    listed = ((name, rank, one) for name, ranks in sorted(seen.results.items()) for rank, one in enumerate(ranks))
    return [(name, rank) for name, rank, one in listed if one is not None and wanted(one)]


def at(seen: Observation, place: Place) -> Tensor:
    """Return the tensor of a result on a rank, which is there."""
    found = seen.results[place[0]][place[1]]
    assert found is not None
    return found


def put(seen: Observation, place: Place, made: Tensor | None) -> Observation:
    """Return an answer with another tensor, or none, as a result on a rank."""
    name, rank = place
    ranks = seen.results[name]
    return replace(seen, results={**seen.results, name: (*ranks[:rank], made, *ranks[rank + 1 :])})


def _of_an_element(change: Callable[[Array, Random], bytes | None], wanted: Callable[[Array], Array]) -> Alter:
    """Return what changes one element; ``wanted`` marks those that may be chosen, of a tensor with no axes or one."""

    def alter(seen: Observation, random: Random) -> Observation | None:
        marks = {}
        for place in places(seen, lambda one: 0 not in one.shape):
            flat = to_array(at(seen, place)).reshape(-1)
            with np.errstate(all="ignore"):
                found = np.flatnonzero(wanted(flat))
            if found.size:
                marks[place] = found
        if not marks:
            return None
        place = random.choice(sorted(marks))
        tensor = at(seen, place)
        index = int(random.choice([marks[place][0], marks[place][-1], random.choice(list(marks[place]))]))
        made = change(to_array(tensor).reshape(-1)[index : index + 1], random)
        return None if made is None else put(seen, place, with_element(tensor, index, made))

    return alter


def with_element(tensor: Tensor, index: int, made: bytes) -> Tensor:
    """Return a tensor with other bytes as one of its elements."""
    width = 2 * NUMPY[tensor.dtype].itemsize
    bits = tensor.bits[: index * width] + made.hex() + tensor.bits[(index + 1) * width :]
    return replace(tensor, bits=bits)


def _any(flat: Array) -> Array:
    return np.ones(flat.shape, np.bool_)


def _floats(flat: Array) -> bool:
    return kind(from_array(flat[:1]).dtype) in ("float", "complex")


def _which(test: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda flat: np.asarray(test(flat)) if _floats(flat) else np.zeros(flat.shape, np.bool_)


def _bit(number: int) -> Callable[[Array, Random], bytes]:
    """Return what flips a bit, counted from the lowest, of the first part or (by chance) the last of an element."""

    def change(element: Array, random: Random) -> bytes:
        raw = bytearray(element.tobytes())
        parts = 2 if element.dtype.kind == "c" else 1
        width = len(raw) // parts
        first = width * random.randrange(parts)
        where = first * 8 + (number if number >= 0 else 8 * width + number)
        raw[where // 8] ^= 1 << where % 8
        return bytes(raw)

    return change


def _as(value: complex) -> Callable[[Array, Random], bytes]:
    def change(element: Array, _: Random) -> bytes:
        with np.errstate(all="ignore"):
            return bytes(element.dtype.type(value if element.dtype.kind == "c" else value.real).tobytes())

    return change


def _one_part_nan(element: Array, random: Random) -> bytes | None:
    if element.dtype.kind != "c":
        return None
    parts = element.view(f"f{element.dtype.itemsize // 2}").copy()
    parts[random.randrange(2)] = np.nan
    return parts.tobytes()


def _neighbour(element: Array, random: Random) -> bytes | None:
    """Return the next number, or one some steps off, on either side."""
    parts = 2 if element.dtype.kind == "c" else 1
    width, raw = element.dtype.itemsize // parts, element.tobytes()
    words = [int.from_bytes(raw[width * part : width * (part + 1)], "little") for part in range(parts)]
    words[random.randrange(parts)] += random.choice((1, -1, 2, -2, 3, 4, 8))
    return b"".join((word % (1 << 8 * width)).to_bytes(width, "little") for word in words)


def _nan(flat: Array) -> Array:
    return np.asarray(np.isnan(flat))


ELEMENTS: Final[dict[str, Alter]] = {
    "low bit": _of_an_element(_bit(0), _any),
    "high bit": _of_an_element(_bit(-2), _any),
    "sign bit": _of_an_element(_bit(-1), _any),
    "sign of a zero": _of_an_element(_bit(-1), _which(lambda flat: flat == 0)),
    "neighbour": _of_an_element(_neighbour, _which(np.isfinite)),
    "another NaN": _of_an_element(_bit(0), _which(_nan)),
    "no NaN": _of_an_element(_as(1.0), _which(_nan)),
    "a zero for a NaN": _of_an_element(_as(0.0), _which(_nan)),
    "a NaN": _of_an_element(_as(complex(np.nan, 0)), _which(np.isfinite)),
    "a NaN beside an infinity": _of_an_element(_as(complex(np.nan, np.inf)), _which(lambda flat: ~np.isfinite(flat))),
    "one part NaN": _of_an_element(_one_part_nan, _which(_any)),
    "an infinity": _of_an_element(_as(complex(np.inf, 0)), _which(np.isfinite)),
    "no infinity": _of_an_element(_as(1.0), _which(np.isinf)),
    "a zero": _of_an_element(_as(0.0), _which(lambda flat: flat != 0)),
}
"""By a word for each: how one element is altered."""
