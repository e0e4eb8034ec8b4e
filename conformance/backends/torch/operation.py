"""What carries one operation on one rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from conformance.backends.attribution import framework
from conformance.cases.program.program import EFFECTS, Step

Operation = Callable[..., list[Any]]
"""Called on every rank with its blocks of all operands of a step (mostly ``torch.Tensor``), its process group and the
step's attributes by keyword.

Returns this rank's block of each result, fresh storage: a ``torch.Tensor``, a token, or ``None`` where it has none.
"""


class Started(NamedTuple):
    """A collective under way; ``finish`` returns this rank's result once ``work`` is waited for."""

    work: Any
    finish: Callable[[], Any]


Form = Callable[..., Started]
"""What starts an operation, found under its name with ``start_`` before it. Called with one block, its process group,
the tensor to write or ``None``, and the step's attributes by keyword."""


def wait(started: Started) -> Any:
    """Wait, once more if need be, and return the result."""
    if started.work is not None:
        with framework():
            started.work.wait()
    return started.finish()


POINT_TO_POINT: Final = frozenset({"permute", "shuffle", "send", "recv"})
"""Operations of sends and receives, in which a rank that raises need not concern the others of its group."""


def mapped(function: Callable[..., Any]) -> Operation:
    """Return the operation that calls ``function`` with one block after the other."""

    def operation(blocks: list[Any], group: Any, **attrs: Any) -> list[Any]:
        return [function(block, group, **attrs) for block in blocks]

    return operation


def idle(step: Step) -> bool:
    """Return whether nobody meets in a step: it is no collective, or maps an operation over no axis."""
    return step.op in EFFECTS or (step.idle and bool(step.inputs) and len(step.inputs) == len(step.outputs))
