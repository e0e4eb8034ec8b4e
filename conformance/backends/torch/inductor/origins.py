"""What a call of Inductor's does of the traced function: which step of the program, on operands of which strides."""

from __future__ import annotations

from typing import Any

import torch
from msgspec.structs import replace

from conformance.backends.torch.inductor.collective_calls import WAIT
from conformance.backends.torch.inductor.traced_program import STEP
from conformance.backends.torch.inductor.wrapper import NAMESPACES
from conformance.cases.schedule.schedule import Access


def traced_as(node: Any) -> torch.fx.Node | None:
    """Return the traced collective that an entry of the scheduler's list does, if it is known to do one."""
    found = [each for each in node.node.origins if _collective(each.target)]
    return found[0] if len(found) == 1 else None


def _collective(target: object) -> bool:
    namespace = getattr(target, "namespace", None)
    return namespace in NAMESPACES and not str(target).startswith(WAIT)


def steps_of(origin: torch.fx.Node | None) -> tuple[int, ...]:
    """Return the step of the program that a traced collective does, where it says so."""
    told = {} if origin is None else origin.meta.get("custom") or {}
    return (told[STEP],) if STEP in told else ()


def as_traced(access: Access, origin: torch.fx.Node | None, piece: int) -> Access:
    """Return what a call reads with the strides that it had when it was traced, where it had as many axes."""
    operand: Any = None if origin is None else origin.args[0]
    operand = operand[piece] if isinstance(operand, list | tuple) else operand
    value = operand.meta.get("val") if isinstance(operand, torch.fx.Node) else None
    if not isinstance(value, torch.Tensor) or access.map is None or len(access.map) != 1:
        return access
    if access.map[0].extents != tuple(map(int, value.shape)):
        return access
    return replace(access, traced=tuple(map(int, value.stride())))
