"""Inductor's calls of collectives in the words of programs: the operation, its attributes, what is read and written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from conformance.backends.base import Unsupported
from conformance.backends.torch.functional import NAMES
from conformance.backends.torch.inductor.wrapper import Called, View
from conformance.cases.program.program import Attr

WAIT: Final = "_c10d_functional.wait_tensor"

OPS: Final = {torch: word for word, torch in NAMES.items()}
"""Names of reductions where the programs have others."""


@dataclass(frozen=True)
class Call:
    """One call: ``group`` is the name of its process group, ``pieces`` what it reads and writes of each operand.

    ``rows`` are what this rank sends to each member and gets of each, where the members differ in that. A call that is
    not ``started`` is done when it returns.
    """

    op: str
    group: str
    attrs: Mapping[str, Attr]
    pieces: tuple[tuple[View, View], ...]
    started: bool = True
    rows: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    algorithm: str = ""
    steps: tuple[int, ...] = ()


def call_of(called: Called) -> Call:
    """Return what a call does; raise ``Unsupported`` for an operator that is not known."""
    make = _CALLS.get(called.operator)
    if make is None:
        raise Unsupported(f"a call of {called.operator}")
    return make(called)


def _reduction(name: str) -> str:
    return OPS.get(name, name)


def _all_reduce(called: Called) -> Call:
    operand, op, group = called.given
    operands = operand if isinstance(operand, list) else [operand]
    return Call("all_reduce", group, {"op": _reduction(op)}, tuple((each, each) for each in operands))


def _all_gather(called: Called) -> Call:
    operand, _, group = called.given
    return Call("all_gather", group, {"axis": 0, "tiled": True}, _fresh(called, operand))


def _reduce_scatter(called: Called) -> Call:
    operand, op, _, group = called.given
    attrs: dict[str, Attr] = {"op": _reduction(op), "axis": 0, "tiled": True}
    return Call("reduce_scatter", group, attrs, _fresh(called, operand))


def _all_to_all(called: Called) -> Call:
    operand, taken, given, group = called.given
    return Call("all_to_all_uneven", group, {}, _fresh(called, operand), rows=(tuple(given), tuple(taken)))


def _broadcast(called: Called) -> Call:
    operand, root, group = called.given
    return Call("broadcast", group, {"root": root}, ((operand, operand),))


def _resharded(called: Called) -> Call:
    """Return the exchange that waits by itself."""
    operand, joined, split, group = called.given
    attrs: dict[str, Attr] = {"split_axis": split, "concat_axis": joined, "tiled": True}
    return Call("all_to_all", group, attrs, _fresh(called, operand), started=False)


def _one_shot(called: Called) -> Call:
    """Return the all_reduce of a communication buffer, which is done when it returns."""
    operand, op, group, *more = called.given
    target = called.named.get("out", more[0] if more else None)
    written = target if isinstance(target, View) else View(called.made[0])
    attrs: dict[str, Attr] = {"op": _reduction(op)}
    return Call("all_reduce", group, attrs, ((operand, written),), started=False, algorithm="one_shot")


def _fresh(called: Called, operand: Any) -> tuple[tuple[View, View], ...]:
    """Return the operands with the results that were made of them, or with the target that was given."""
    operands = operand if isinstance(operand, list) else [operand]
    target = called.named.get("out")
    if target is not None:
        return tuple(zip(operands, target if isinstance(target, list) else [target], strict=True))
    # Of a call with several results the first name is that of their list.
    made = called.made[1:] if isinstance(operand, list) else called.made
    if len(made) != len(operands):
        raise Unsupported(f"{called.operator} of {len(operands)} operands, of which {len(made)} results have a name")
    return tuple((each, View(name)) for each, name in zip(operands, made, strict=True))


_CALLS: Final[dict[str, Callable[[Called], Call]]] = {
    "_c10d_functional.all_reduce_": _all_reduce,
    "_c10d_functional.all_reduce_coalesced_": _all_reduce,
    "_c10d_functional.all_gather_into_tensor": _all_gather,
    "_c10d_functional.all_gather_into_tensor_out": _all_gather,
    "_c10d_functional.all_gather_into_tensor_coalesced": _all_gather,
    "_c10d_functional.reduce_scatter_tensor": _reduce_scatter,
    "_c10d_functional.reduce_scatter_tensor_out": _reduce_scatter,
    "_c10d_functional.reduce_scatter_tensor_coalesced": _reduce_scatter,
    "_c10d_functional.all_to_all_single": _all_to_all,
    "_c10d_functional.broadcast_": _broadcast,
    "_dtensor.shard_dim_alltoall": _resharded,
    "symm_mem.one_shot_all_reduce": _one_shot,
    "symm_mem.one_shot_all_reduce_out": _one_shot,
}
"""The operators that Inductor lowers collectives to."""
