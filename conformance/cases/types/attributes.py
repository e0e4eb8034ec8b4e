"""The attributes of a typed program's steps: which each operation has, and what each may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from conformance.cases.case_error import CaseError
from conformance.cases.program.program import Attr
from conformance.cases.types.axis_type import STATES
from conformance.cases.types.starts import DONES


class Kind(NamedTuple):
    """What an attribute is, in words, and the test of it."""

    words: str
    fits: Callable[[Any], bool]
    needed: bool = True


def _int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _ints(value: Any) -> bool:
    return isinstance(value, tuple) and all(map(_int, value))


def _rows(value: Any) -> bool:
    return isinstance(value, tuple) and all(_ints(row) and all(0 <= each < 1 << 31 for each in row) for row in value)


def _one_of(*words: str) -> Kind:
    return Kind(f"one of {', '.join(words)}", lambda value: value in words)


REDUCTIONS: Final = ("sum", "mean", "max", "min")
"""What an all_reduce may do in a typed program."""

AXIS: Final = Kind("an axis, a number of at least 0", lambda value: _int(value) and value >= 0)
TILED: Final = Kind("true or false", lambda value: isinstance(value, bool))
ROWS: Final = Kind("rows of numbers from 0 to 2147483647, one for each member", _rows)
"""They are told as int32."""

PAIRS: Final = Kind("pairs of positions", lambda value: _rows(value) and all(len(pair) == 2 for pair in value))

WORD: Final = Kind("a word", lambda value: isinstance(value, str))
"""A state, or what is none: whether there is such a result is for the types to say."""

KINDS: Final[Mapping[str, Mapping[str, Kind]]] = {
    "all_gather": {"axis": AXIS, "tiled": TILED, "to": WORD},
    "all_reduce": {
        "op": _one_of(*REDUCTIONS),
        "local_axes": Kind("axes of a block", lambda value: _ints(value) and min(value, default=0) >= 0, needed=False),
    },
    "all_to_all": {"split_axis": AXIS, "concat_axis": AXIS, "tiled": TILED},
    "broadcast": {"root": AXIS._replace(words="a position, a number of at least 0")},
    "cast": {"to": _one_of(*STATES)},
    "done": {"of": _one_of(*DONES)},
    "permute": {"pairs": PAIRS},
    "ragged_all_to_all": {
        **dict.fromkeys(("input_offsets", "send_sizes", "output_offsets", "recv_sizes"), ROWS),
        "level": WORD._replace(words="the name of a level", needed=False),
    },
    "recv": {"pairs": PAIRS},
    "reduce_scatter": {"op": _one_of("sum"), "axis": AXIS, "tiled": TILED},
    "send": {"pairs": PAIRS},
    "shuffle": {"sources": Kind("positions", _ints)},
    "sum": {"axis": AXIS},
}
"""The attributes of every operation that has some."""


def check_attributes(where: str, op: str, given: Mapping[str, Attr]) -> None:
    """Raise ``CaseError``, which begins with ``where``, for a missing, an unknown and a wrong attribute."""
    kinds = KINDS.get(op, {})
    if unknown := set(given) - set(kinds):
        raise CaseError(f"{where} has no attribute {min(unknown)!r}; it has {', '.join(kinds) or 'none'}")
    for name, kind in kinds.items():
        if name not in given and kind.needed:
            raise CaseError(f"{where} needs the attribute {name!r}, {kind.words}")
        if name in given and not kind.fits(given[name]):
            raise CaseError(f"{where}: {name} is {kind.words}; got {given[name]!r}")
