"""The schedule of a graph in the neutral form, by the names that the graph has."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec.structs import replace

from conformance.backends.opencl.dry_run import DryRun
from conformance.backends.opencl.export.launches import exported_map
from conformance.backends.opencl.export.schedule import buffers, items
from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.node import Buffer, Computed, Node
from conformance.backends.opencl.settings import Settings
from conformance.cases.graph.buffer import Buffer as NeutralBuffer
from conformance.cases.graph.buffer import Declarations, Device
from conformance.cases.graph.case import GraphCase, Round, declared
from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule import schedule as neutral
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import Tensor


def as_case(graph: Graph) -> GraphCase:
    """Return the case that lists a graph and asks for its results in one round; its buffers hold zeros."""
    inner = [node for each in graph.functions.values() for node in each.nodes]
    buffers: dict[str, Tensor] = {}
    for node in (node for node in (*graph.nodes, *inner) if node.op == "buf"):
        shape = sizes(node.shape, graph.most)
        known = buffers.get(str(node.arg))
        if known is None or math.prod(known.shape) < math.prod(shape):
            bits = "00" * (math.prod(shape) * NUMPY[node.dtype].itemsize)
            buffers[str(node.arg)] = Tensor(dtype=node.dtype, shape=shape, bits=bits)
    once = Round(until=len(graph.nodes), asked=graph.results)
    return GraphCase(graph=graph, buffers=buffers, rounds=(once,))


def exported_graph(
    dry_run: DryRun, case: GraphCase, device: Device, settings: Settings, lasts: str = ""
) -> neutral.Schedule:
    """Return the neutral schedule of a round of a case, on devices that are all like ``device``.

    Blocks of the communication pool are allocations whose names begin with ``lasts``.
    """
    made = dry_run.schedule
    devices = tuple(dry_run.devices)
    names = names_of(dry_run)
    results = {made.roots.get(each, each) for each in _ends(dry_run).values()}
    asked: dict[Node, tuple[str, ...]] = {
        node: (node.asked,) for node in made.nodes if isinstance(node, Computed) and node.asked
    }
    became = dry_run.lowered.became
    asked |= {
        became.get(node, node): (dry_run.round_values.made[value],)
        for value, node in dry_run.lowering.nodes.items()
        if value in dry_run.round_values.made
    }
    whole = declared(case)
    own = buffers(made, results, names, devices, lasts)
    used = {each.id for each in own}
    parts = _parts(dry_run, case, names)
    return neutral.Schedule(
        devices=dict.fromkeys(devices, device),
        buffers=(
            *(_held(each, whole) for each in own),
            *(each for each in whole.buffers if each.id not in used),
            *_kept(dry_run, used | {each.id for each in whole.buffers}, devices),
        ),
        items=tuple(_told(each, parts) for each in items(made, dry_run.lowered, names, asked, devices, settings)),
        variables=whole.variables,
        graph=case.graph,
        places=tuple(_places(dry_run, names)),
    )


def _kept(dry_run: DryRun, known: Collection[str], devices: Sequence[str]) -> Iterator[NeutralBuffer]:
    """Yield the buffers of values that earlier rounds left and that no item of this one uses."""
    for node in dry_run.there:
        if node.name not in known:
            size = node.size * FORMATS[node.dtype].itemsize
            yield NeutralBuffer(
                id=node.name, size=size, dtype=node.dtype, device=devices[node.device], preexisting=True
            )


def _parts(dry_run: DryRun, case: GraphCase, names: dict[Node, str]) -> dict[str, tuple[str, int]]:
    """Return the buffers that hold folds of parts of a reduce of the graph: its name, and how many for each element."""
    listed = {node.id for node in case.graph.nodes}
    lying = dry_run.lowering.nodes
    return {
        names[lying[value]]: part
        for value, part in dry_run.round_values.parts.items()
        if value in lying and lying[value] in names and part[0] in listed
    }


def _told(item: neutral.Item, parts: Mapping[str, tuple[str, int]]) -> neutral.Item:
    """Return an item that says of which reduce it stores folds of parts."""
    if not isinstance(item, neutral.Kernel) or not any(each.buffer in parts for each in item.accesses if each.write):
        return item
    accesses = tuple(
        replace(each, node=parts[each.buffer][0], parts=parts[each.buffer][1])
        if each.write and each.buffer in parts
        else each
        for each in item.accesses
    )
    return replace(item, accesses=accesses)


def names_of(dry_run: DryRun) -> dict[Node, str]:
    """Return the names of all nodes that lie somewhere: those of the graph's buffers, or numbers."""
    made = dry_run.schedule
    known: dict[Node, str] = {node: node.name for node in made.inputs}
    names = {node: known.get(node, f"value {number}") for number, node in enumerate(made.places)}
    return names | {node: names[root] for node, root in made.roots.items() if root in names}


def _held(buffer: NeutralBuffer, whole: Declarations) -> NeutralBuffer:
    """Return a buffer of the graph as the graph declares it, any other as it is."""
    return next((each for each in whole.buffers if each.id == buffer.id), buffer)


def _ends(dry_run: DryRun) -> dict[int, Node]:
    """Return for each value that lies somewhere, by its place among those wanted, the node that it lies in."""
    found: dict[int, Node] = {}
    for number, each in enumerate(dry_run.lowering.wanted):
        blocks = dry_run.lowered.results.get(f"{number}")
        if blocks is not None and blocks[0] is not None:
            found[number] = blocks[0].node
        elif each.node is not None:
            found[number] = each.node
    return found


def _places(dry_run: DryRun, names: dict[Node, str]) -> Iterator[neutral.Place]:
    ends = _ends(dry_run)
    for number, name in enumerate(dry_run.asked):
        node = ends.get(number)
        if node is not None:
            buffer = node.name if isinstance(node, Buffer) else names[node]
            yield neutral.Place(node=name, buffer=buffer, map=exported_map(dry_run.lowering.wanted[number].map))
