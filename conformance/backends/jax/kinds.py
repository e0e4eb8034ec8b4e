"""What the blocks of a case are: JAX gives every rank one of the same shape and dtype."""

from __future__ import annotations

from typing import Any

from conformance.backends.base import Unsupported
from conformance.cases.case import Case


def kinds(case: Case) -> dict[str, Any]:
    """Return the shape and dtype of every input; raise ``Unsupported`` where ranks differ in what they hold or do."""
    if case.troubled:
        raise Unsupported("JAX promises nothing of ranks that go their own ways, and one controller runs them all")
    found = {name: sorted({(block.shape, block.dtype) for block in x.blocks}) for name, x in case.inputs.items()}
    for name, several in found.items():
        if len(several) != 1:
            raise Unsupported(f"{name}: JAX gives every rank a block of one shape and dtype, got {several}")
    return found
