"""The scheduled HLO of a TPU as items: what writes each kind of instruction, loops and branches among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from conformance.backends.base import Unsupported
from conformance.backends.jax.hlo.module import Instruction, Module
from conformance.backends.jax.tpu import communication, kernels
from conformance.backends.jax.tpu.held import Held, UnknownValue, as_value, shown
from conformance.backends.jax.tpu.pairs import exchange
from conformance.backends.jax.tpu.walk import NEVER_KNOWN, Scope, Walk, Write

MOST_ROUNDS: Final = 64
"""Rounds of a loop that are written out."""

SHOWN: Final = "shown "
"""How the ids of items begin that only show memory in another width; no instruction's name has a blank."""


def walk(module: Module, world: int) -> Walk:
    """Return the walk of a module on so many ranks, of which nothing is written yet."""
    return Walk(module, world, _write)


def _write(walk: Walk, scope: Scope, node: Instruction, of: list[Held]) -> Held:
    """Write the items of an instruction, and return what it gives."""
    if node.opcode in NEVER_KNOWN:
        raise Unsupported(f"{node.opcode}, which the neutral form has no word for")
    make = MAKES.get(node.opcode)
    if make is None and node.opcode == "fusion" and exchange(walk.module.computations[node.called[0]]) is not None:
        make = communication.fused
    return (make or kernels.kernel)(walk, scope, node, of)


def _bitcast(walk: Walk, scope: Scope, node: Instruction, of: list[Held]) -> Held:
    """Return memory in another shape; where that is of another width, a kernel stands for it."""
    try:
        return shown(of[0], node.shape)
    except Unsupported:
        return kernels.kernel(walk, replace(scope, prefix=f"{SHOWN}{scope.prefix}"), node, of)


def _same_everywhere(value: Any, what: str) -> int:
    found = {int(each) for each in np.asarray(value).reshape(-1)}
    if len(found) != 1:
        raise Unsupported(f"{what} that differs between ranks")
    return found.pop()


def _while(walk: Walk, scope: Scope, node: Instruction, of: list[Held]) -> Held:
    held = of[0]
    body, condition = node.called[0], node.called[1]
    for turn in range(MOST_ROUNDS + 1):
        try:
            going = walk.guessed(condition, [held])
        except UnknownValue:
            raise Unsupported(f"{node.name}: a loop whose rounds data decide") from None
        if not _same_everywhere(going, "a loop"):
            return held
        held = walk.called(body, [held], f"{scope.prefix}{node.name}/{turn}/")
    raise Unsupported(f"{node.name}: a loop of more than {MOST_ROUNDS} rounds")


def _conditional(walk: Walk, scope: Scope, node: Instruction, of: list[Held]) -> Held:
    which, *arguments = of
    try:
        value = np.asarray(as_value(which))
    except UnknownValue:
        raise Unsupported(f"{node.name}: a branch that data decide") from None
    number = _same_everywhere(np.where(value, 0, 1) if value.dtype == bool else value, "a branch")
    number = number if 0 <= number < len(arguments) else len(arguments) - 1
    return walk.called(node.called[number], [arguments[number]], f"{scope.prefix}{node.name}/")


def _call(walk: Walk, scope: Scope, node: Instruction, of: list[Held]) -> Held:
    return walk.called(node.called[0], of, f"{scope.prefix}{node.name}/")


MAKES: Final[Mapping[str, Write]] = {
    **communication.MAKES,
    "bitcast": _bitcast,
    "while": _while,
    "conditional": _conditional,
    "call": _call,
}
"""What writes instructions that are no kernel."""
