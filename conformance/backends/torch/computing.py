"""Steps that compute on each rank alone, in Torch's words: those of graphs, and ``tensordot``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import torch

from conformance.backends.attribution import framework
from conformance.backends.torch.graphs import DTYPES, TABLE
from conformance.cases.program.computing import Block, leaf, nodes
from conformance.cases.program.program import Step

_NAMES: Final = {dtype: name for name, dtype in DTYPES.items()}


def computed(step: Step, operands: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return what this rank's step gives; raise whatever Torch raises."""
    if step.op == "dot":
        return _dot(step, *operands)
    kinds = [leaf(str(number), Block(_NAMES[each.dtype], tuple(each.shape))) for number, each in enumerate(operands)]
    (node,) = nodes(step.op, step, kinds, step.outputs[0])
    return TABLE[str(node.arg) if node.op == "alu" else node.op](node, *operands)


def _dot(step: Step, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return the product of two tensors, converted before to the dtype that it is computed in."""
    wide = DTYPES[str(step.attrs["acc"])] if step.attrs.get("acc") else left.dtype
    with framework():
        made: torch.Tensor = torch.tensordot(left.to(wide), right.to(wide), dims=1)
        return made.to(left.dtype)
