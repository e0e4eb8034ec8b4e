"""What is barely illegal about a ragged exchange: its tables of offsets and sizes, and the rows of its output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from conformance.generate import choices
from conformance.generate.calls.mistakes import wrong
from conformance.specs.operations.ragged_all_to_all import TABLES

Tables = dict[str, Any]
"""Every table by its name: an entry for each slice of each position of the group."""


def _no_integers(draw: choices.Draw, tables: Tables, _: tuple[int, int]) -> None:
    name, dtype = draw(_TABLE), draw(choices.sampled_from([np.float32, np.bool_, np.complex64]))
    tables[name] = tables[name].astype(dtype)


def _other_rank(draw: choices.Draw, tables: Tables, _: tuple[int, int]) -> None:
    name = draw(_TABLE)
    tables[name] = tables[name][..., None] if draw(choices.booleans()) else tables[name][:, 0]


def _no_slices(_: choices.Draw, tables: Tables, __: tuple[int, int]) -> None:
    tables.update({name: table[:, :0] for name, table in tables.items()})


def _other_length(draw: choices.Draw, tables: Tables, _: tuple[int, int]) -> None:
    names = draw(choices.sampled_from([*((name,) for name in TABLES), TABLES]))
    shorter = draw(choices.booleans()) and tables[TABLES[0]].shape[1] > 1
    for name in names:
        table = tables[name]
        tables[name] = table[:, :-1] if shorter else np.concatenate([table, table[:, :1]], 1)


def _other_sizes(draw: choices.Draw, tables: Tables, _: tuple[int, int]) -> None:
    at = slice(None) if draw(choices.booleans()) else _entry(draw, tables)
    tables["recv_sizes"] = tables["recv_sizes"].copy()
    tables["recv_sizes"][at] += 1


def _negative_sizes(_: choices.Draw, tables: Tables, __: tuple[int, int]) -> None:
    # Of the first member to itself, so that both sizes agree.
    for name in ("send_sizes", "recv_sizes"):
        tables[name] = tables[name].copy()
        tables[name][0, 0] = -1


def _beyond(draw: choices.Draw, tables: Tables, rooms: tuple[int, int]) -> None:
    name, room = draw(choices.sampled_from(list(zip(("input_offsets", "output_offsets"), rooms, strict=True))))
    at = _entry(draw, tables)
    past = room + 1 - int(tables["send_sizes"][at])
    tables[name][at] = draw(choices.sampled_from([past, -1]))


def _all_beyond(_: choices.Draw, tables: Tables, rooms: tuple[int, int]) -> None:
    rows, space = rooms
    if rows > space:
        tables["input_offsets"] = tables["input_offsets"] + rows + 1
    else:
        tables["output_offsets"] = tables["output_offsets"] - space - 1


def _entry(draw: choices.Draw, tables: Tables) -> tuple[int, int]:
    members, slices = tables["send_sizes"].shape
    return draw(choices.integers(0, members - 1)), draw(choices.integers(0, slices - 1))


MISUSES: Final = {
    "no integers": _no_integers,
    "other rank": _other_rank,
    "no slices": _no_slices,
    "other length": _other_length,
    "other sizes": _other_sizes,
    "negative sizes": _negative_sizes,
    "beyond": _beyond,
    "all beyond": _all_beyond,
}
"""What may be wrong about tables. Each is of any table, member and slice, for a check may pass over some."""

WRONG_REST: Final[dict[str, Callable[[tuple[int, ...]], tuple[int, ...]]]] = {
    "more axes": lambda rest: (*rest, 1),
    "fewer axes": lambda rest: rest[:-1] or (2,),
    "other extent": lambda rest: (*rest[:-1], rest[-1] + 1) if rest else (1,),
}
"""How rows of the output differ in shape from those of the operand."""

MISUSE: Final = wrong(
    "slices",
    ["none"] * 41,
    [
        *MISUSES,
        "no integers",
        "other rank",
        "other length",
        "other sizes",
        "beyond",
        "beyond",
        *WRONG_REST,
        "other dtype",
    ],
)
_TABLE: Final = choices.sampled_from(TABLES)
