"""The operations of typed programs that can be started, and the word of each for its done: ten starts and six dones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from conformance.cases.program.program import Attr


class Start(NamedTuple):
    """What is started: an operation, what its operand is along the axes that it names, and what its result is.

    Both are empty where nothing has a type.
    """

    op: str
    operand: str = ""
    result: str = ""


STARTS: Final[Mapping[str, Start]] = {
    "psum": Start("all_reduce"),
    "psum_invariant": Start("all_reduce", "varying", "invariant"),
    "unreduced_psum": Start("all_reduce", "unreduced", "invariant"),
    "reduce_scatter": Start("reduce_scatter", "varying", "varying"),
    "unreduced_reduce_scatter": Start("reduce_scatter", "unreduced", "varying"),
    "all_gather": Start("all_gather", "varying", "varying"),
    "all_gather_reduced": Start("all_gather", "varying", "reduced"),
    "all_to_all": Start("all_to_all", "varying", "varying"),
    "pbroadcast": Start("broadcast", "varying", "varying"),
    "ppermute": Start("permute", "varying", "varying"),
}
"""Every start by the name of the source, without its ``_start``."""

DONES: Final = tuple(sorted({start.op for start in STARTS.values()}))
"""The operations of which there is a done: those that can be started."""


def no_start(op: str, attrs: Mapping[str, Attr]) -> str | None:
    """Return why nothing starts an operation, or ``None`` where something does."""
    if op not in DONES:
        return f"nothing starts {op}; started are {', '.join(DONES)}"
    if op == "all_reduce" and attrs.get("op") != "sum":
        return f"nothing starts an all_reduce {attrs.get('op')}; there is a start of sum"
    return None


def no_such_start(op: str, attrs: Mapping[str, Attr]) -> str | None:
    """Return why a start is refused although there is one of its operation, or ``None`` where there is such."""
    if op == "all_gather" and attrs.get("to") not in ("varying", "reduced"):
        return f"nothing starts an all_gather to {attrs.get('to')}; there are starts to varying and to reduced"
    return None


def start_of(op: str, operand: str, result: str) -> str:
    """Return the name of the start of an operation whose operand and result are in these states.

    Of a pair that the table does not have it is that of the operation alone: without types, or over no axis.
    """
    named = [name for name, start in STARTS.items() if start == Start(op, operand, result)]
    return (named or [name for name, start in STARTS.items() if start.op == op])[0]
