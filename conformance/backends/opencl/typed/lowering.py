"""What the engine makes of a typed program: the collectives of its graph, and the devices that each names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

import numpy as np
from msgspec.structs import replace

from conformance.backends.opencl.typed.forward import computed_step
from conformance.backends.opencl.typed.graph_builder import Building
from conformance.backends.opencl.typed.states import typed
from conformance.cases.graph.graph import Node
from conformance.cases.program.program import Attr, Groups, rank_groups
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.types.lowered import FILL, Lowered
from conformance.cases.types.typed_program import TypedProgram, TypedStep

STEPS: Final = ("add", "all_gather", "all_reduce", "all_to_all", "broadcast", "cast", "maximum", "multiply", "negate",
                "permute", "recv", "reduce_scatter", "send", "shuffle", "subtract", "sum")  # fmt: skip
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
        found += [_fact(meetings, program.names)] if meetings else []
        if step.op == "recv" and meetings:  # one exchange is both halves
            found[-1] = replace(found[-1], op="recv")
        if step.op == "send" and step.axes:
            found.append(_sent(program, step))
    return found


def _fact(meetings: list[Node], names: Sequence[str]) -> Lowered:
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
        # A permute without pairs has no groups.
        dimensions=_dimensions(op, attrs, len(groups[0]) if groups else 0),
        channel=True,
        manual=tuple(sorted(names)),
    )


def _sent(program: TypedProgram, step: TypedStep) -> Lowered:
    pairs = cast(Groups, step.attrs["pairs"])
    groups = rank_groups(program.mesh, step.axes, None)
    met = tuple((group[source], group[target]) for group in groups for source, target in pairs)
    return Lowered(op="send", groups=met, channel=True, manual=tuple(sorted(program.names)))


def _dimensions(op: str, attrs: Mapping[str, Attr], members: int) -> tuple[int, ...]:
    """Return the axes of an operation as StableHLO has them: an untiled exchange keeps the axis that it splits."""
    if op in ("all_gather", "reduce_scatter"):
        return (cast(int, attrs["axis"]),)
    if op != "all_to_all":
        return ()
    split, joined = cast(int, attrs["split_axis"]), cast(int, attrs["concat_axis"])
    untiled = not attrs["tiled"]
    return split + (untiled and joined < split), joined + (untiled and split < joined), members


def _from(group: tuple[int, ...], root: int) -> tuple[int, ...]:
    return (group[root], *group[:root], *group[root + 1 :])
