"""What the engine makes of a typed program: the collectives of its graph, and the devices that each names."""

from __future__ import annotations

from typing import Final, cast

import numpy as np

from conformance.backends.opencl.typed.forward import computed_step
from conformance.backends.opencl.typed.graph_builder import Building
from conformance.backends.opencl.typed.states import typed
from conformance.cases.graph.graph import Node
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.types.lowered import FILL, Lowered
from conformance.cases.types.typed_program import TypedProgram

STEPS: Final = ("add", "all_gather", "all_reduce", "all_to_all", "broadcast", "cast", "maximum", "multiply", "negate",
                "permute", "reduce_scatter", "shuffle", "subtract", "sum")  # fmt: skip
"""Steps that are collectives of a graph, or none; an index is numbers, and a ragged exchange is copies."""


def lowered(program: TypedProgram) -> list[Lowered]:
    """Return the collectives that the steps are made of; raise where a step is refused."""
    typed(program)
    building = Building()
    values = {
        name: building.put([np.zeros(each.shape, NUMPY[each.dtype])] * program.world)
        for name, each in program.inputs.items()
    }
    found = []
    for step in program.steps:
        before = len(building.nodes)
        values[step.output] = computed_step(building, program.mesh, step, [values[name] for name in step.inputs])
        meetings = [node for node in building.nodes[before:] if node.op == "collective"]
        found += [_fact(meetings)] if meetings else []
    return found


def _fact(meetings: list[Node]) -> Lowered:
    """Return one collective of its nodes, one on each device."""
    op, attrs = str(meetings[0].arg), meetings[0].attrs
    groups = tuple(dict.fromkeys(tuple(int(name[1:]) for name in node.members) for node in meetings))
    pairs = cast(Groups, attrs.get("pairs", ()))
    if op == "shuffle":
        op, pairs = "permute", tuple((source, at) for at, source in enumerate(cast(tuple[int, ...], attrs["sources"])))
    if op == "permute":
        groups = tuple((group[source], group[target]) for group in groups for source, target in pairs)
    if op == "broadcast":
        groups = tuple(_from(group, cast(int, attrs["root"])) for group in groups)
    most = max(map(len, groups), default=0)
    filled: Groups = tuple((*group, *[FILL] * (most - len(group))) for group in groups)
    reduces = op in ("all_reduce", "reduce_scatter")
    return Lowered(
        op=op,
        groups=filled,
        reducer=str(attrs["op"]) if reduces else "",
        global_ids=reduces or op == "all_gather",
    )


def _from(group: tuple[int, ...], root: int) -> tuple[int, ...]:
    return (group[root], *group[:root], *group[root + 1 :])
