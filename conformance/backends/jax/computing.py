"""Steps that compute on each rank alone, in JAX's words: those of graphs, and ``dot_general``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from conformance.backends.attribution import framework
from conformance.backends.jax.graphs import TABLE
from conformance.cases.program.computing import Block, leaf, nodes
from conformance.cases.program.program import Step
from conformance.cases.tensor.dtypes import NUMPY, logical


def computed(step: Step, operands: Sequence[Any]) -> Any:
    """Return what one rank's step gives; raise whatever JAX raises."""
    if step.op == "dot":
        return _dot(step, *operands)
    kinds = [leaf(str(number), Block(logical(each.dtype), each.shape)) for number, each in enumerate(operands)]
    (node,) = nodes(step.op, step, kinds, step.outputs[0])
    return TABLE[str(node.arg) if node.op == "alu" else node.op](node, *operands)


def _dot(step: Step, left: Any, right: Any) -> Any:
    acc = step.attrs.get("acc")
    with framework():
        wide = jnp.dtype(NUMPY[str(acc)]) if acc else left.dtype
        dimensions = (((left.ndim - 1,), (0,)), ((), ()))
        made = lax.dot_general(left, right, dimensions, preferred_element_type=wide, precision=lax.Precision.HIGHEST)
        return made.astype(left.dtype)
