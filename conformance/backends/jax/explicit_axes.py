"""Programs on sharded tensors on JAX, over a mesh of explicit axes: each value's type says how it is sharded."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import jax
from jax.sharding import AxisType

from conformance.backends.attribution import framework
from conformance.backends.base import Claims, Held
from conformance.backends.jax.named_shardings import CLAIMS as AUTOMATIC
from conformance.backends.jax.named_shardings import Placed
from conformance.cases.graph.graph import Node
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import REPLICATED

_LACKS: Final = ("gather", "bitcast")

CLAIMS: Final[Claims] = {
    "sharded": {
        **AUTOMATIC["sharded"],
        # The type of a gather's result has to be said by whoever calls it.
        "operation": [word for word in AUTOMATIC["sharded"]["operation"] if word not in _LACKS],
        "target": ["none"],
        # Each operand of a step has the same type, and what it makes has one that follows from theirs.
        "operands": ["alike"],
        "steps": ["inside"],
        # "slicing on sharded dims where out dim is not divisible by mesh axes is not implemented"
        "parts": ["kept"],
    }
}
"""What the documentation of explicit axes supports."""


def run(case: ShardedCase, devices: list[Any]) -> dict[str, Held]:
    """Return what the rounds of a case ask for and read, as it lies on the devices."""
    made = Explicit(case, devices)
    with framework(), jax.set_mesh(made.mesh):
        return made.run()


class Explicit(Placed):
    """A case whose arrays have shardings in their types."""

    kind: ClassVar = AxisType.Explicit

    def made(self, node: Node, of: list[Any]) -> Any:
        """Return the value of a node; a copy has another type."""
        if node.op == "copy":
            sharding = self.sharding(self.sharded.moves.get(node.id, REPLICATED), of[0].ndim)
            with framework():
                return jax.sharding.reshard(of[0], sharding)
        return super().made(node, of)
