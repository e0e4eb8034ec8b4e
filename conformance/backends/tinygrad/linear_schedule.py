"""tinygrad's linear schedule of a graph in the neutral form.

tinygrad names buffers before it plans where they lie and places after, so a graph is scheduled twice, without and with
its memory planner, which changes no item and no order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import msgspec
import numpy as np
from tinygrad.device import canonicalize_device
from tinygrad.engine.realize import run_linear
from tinygrad.helpers import Context
from tinygrad.tensor import Tensor
from tinygrad.uop import Ops
from tinygrad.uop.ops import UOp

from conformance.backends.attribution import framework
from conformance.backends.base import Unsupported
from conformance.backends.index_fit import fit, fit_all
from conformance.backends.tinygrad.all_reduces import Meeting, with_meetings
from conformance.backends.tinygrad.body import Translation
from conformance.backends.tinygrad.dtypes import NAMES
from conformance.backends.tinygrad.indices import base_of, elements_of, segments_of, variables_in
from conformance.backends.tinygrad.lazy_graphs import Lazy
from conformance.backends.tinygrad.provenance import with_provenance
from conformance.cases.graph.buffer import Bounds, Buffer, Device
from conformance.cases.graph.extent import Dim, Values, sizes
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.index_map import Indices, contiguous
from conformance.cases.schedule.schedule import Access, Binding, Copy, Kernel, Place, Schedule

BLOCK = Device(alignment=256)
"""The memory planner deals in blocks of 256 bytes on every device."""


def schedule(graph: Graph, device: str, *, planned: bool = True, algorithm: str = "naive") -> Schedule:
    """Return the schedule that tinygrad makes of ``graph`` on its devices of that name, ``planned`` in memory or not.

    ``algorithm`` is what it was asked to lower all-reduces to.

    Raise ``Unsupported`` for what tinygrad has no words for, and whatever tinygrad raises.
    """
    devices = _devices(graph, device)
    own = {str(canonicalize_device(each)): name for name, each in devices.items()}
    plain, values, lazy = _linear(graph, devices, planned=False)
    placed, _, _ = _linear(graph, devices, planned=planned)
    named = _Buffers(own, lazy)
    items = [item for number, call in enumerate(plain) for item in _items(number, call, named, values)]
    for before, after in zip(plain, placed, strict=True):
        for (_, one), (_, other) in zip(_launches(before), _launches(after), strict=True):
            for logical, physical in zip(one, other, strict=True):
                named.plan(logical, physical)
    places = tuple(_places(lazy, named, graph))
    written = [
        access for item in items for access in item.accesses if access.write and access.buffer not in lazy.storage
    ]
    symbolic = {access.buffer: shape for access in written if (shape := _symbolic(access, graph.most))}
    return Schedule(
        devices=dict.fromkeys(devices, BLOCK),
        buffers=named.declared({place.buffer for place in places}, symbolic),
        variables=_bounds(graph),
        items=tuple(with_meetings([*with_provenance(items, graph, places)], [*_meetings(lazy, named)], algorithm)),
        graph=graph,
        places=places,
    )


def remaining(graph: Graph, device: str) -> Schedule:
    """Return the schedule that tinygrad makes of the tensors of ``graph`` when it has run the one that realizes them.

    Raise ``Unsupported`` and whatever tinygrad raises.
    """
    devices = _devices(graph, device)
    lazy = Lazy(graph, devices)
    first = _wanted(lazy, planned=True)
    with framework():
        run_linear(*first)
    linear, values = _wanted(lazy, planned=False)
    named = _Buffers({str(canonicalize_device(each)): name for name, each in devices.items()}, lazy)
    items = [item for number, call in enumerate(linear.src) for item in _items(number, call, named, values)]
    places = tuple(_places(lazy, named, graph))
    found = named.declared({place.buffer for place in places}, {})
    return Schedule(
        devices=dict.fromkeys(devices, BLOCK),
        # Whatever was realized is there before.
        buffers=tuple(msgspec.structs.replace(each, preexisting=True) for each in found),
        variables=_bounds(graph),
        items=tuple(items),
        graph=graph,
        places=places,
    )


def _devices(graph: Graph, device: str) -> dict[str, str]:
    names = dict.fromkeys(node.device for node in graph.nodes)
    return {name: f"{device}:{number}" for number, name in enumerate(names)}


def _bounds(graph: Graph) -> dict[str, Bounds]:
    return {name: Bounds(low=each.low, high=each.high) for name, each in graph.variables.items()}


def _linear(graph: Graph, devices: dict[str, str], *, planned: bool) -> tuple[list[UOp], dict[str, int], Lazy]:
    lazy = Lazy(graph, devices)
    linear, values = _wanted(lazy, planned=planned)
    return list(linear.src), values, lazy


def _wanted(lazy: Lazy, *, planned: bool) -> tuple[UOp, dict[str, int]]:
    # A schedule that was made before must not be taken for this one.
    wanted = [*lazy.results.values(), *(lazy.storage[name] for name in lazy.written)]
    with framework(), Context(NO_MEMORY_PLANNER=int(not planned), SCACHE=0):
        made: tuple[UOp, dict[str, int]] = Tensor.linear_with_vars(*wanted)
    return made


def _launches(call: UOp) -> Iterator[tuple[int, list[Any]]]:
    """Yield the number of each device that runs a call, with the buffers that it uses there."""
    found = [source.buffer for source in call.src[1:]]
    many = [getattr(each, "bufs", None) for each in found]
    if not any(many):
        yield 0, found
        return
    for number, used in enumerate(zip(*(bufs or [] for bufs in many), strict=True)):
        yield number, list(used)


def _items(number: int, call: UOp, named: _Buffers, values: Mapping[str, int]) -> Iterator[Kernel | Copy]:
    body = call.src[0]
    for device, buffers in _launches(call):
        name = [named.of(each) for each in buffers]
        if body.op is Ops.COPY:
            target, source = name
            yield Copy(id=f"copy{number}.{device}", accesses=(Access(buffer=source), Access(buffer=target, write=True)))
        elif body.op is Ops.SINK:
            accesses, bodies = _computed(body, device, name)
            yield Kernel(
                id=f"kernel{number}.{device}",
                device=named.device(buffers[0]),
                accesses=accesses,
                bodies=bodies,
                variables=tuple(Binding(each, values[each]) for each in variables_in(body)),
            )
        else:
            raise Unsupported(f"an item that is {body.op}")


def _computed(sink: UOp, device: int, name: list[str]) -> tuple[tuple[Access, ...], tuple[Any, ...]]:
    """Return accesses and bodies; all of every buffer and no body where the kernel has no neutral form.

    Raise ``Unsupported`` where it depends on a variable, for then not even all of a buffer need be there.
    """
    try:
        translated = Translation(sink, device, name.__getitem__)
    except Unsupported:
        if variables_in(sink):
            raise
        stores = [node.src[0] for node in sink.toposort() if node.op is Ops.STORE]
        written = {base_of(store.src[0]).arg.slot for store in stores}
        indices = (node for node in sink.toposort() if node.op is Ops.INDEX and node not in stores)
        loaded = {base_of(node.src[0]).arg.slot for node in indices}
        reads = tuple(Access(buffer=name[slot]) for slot in sorted(loaded))
        return reads + tuple(Access(buffer=name[slot], write=True) for slot in sorted(written)), ()
    return tuple(translated.accesses), translated.bodies


def _meetings(lazy: Lazy, named: _Buffers) -> Iterator[Meeting]:
    """Yield the reductions over devices with the buffers they take and give; one that nothing needs has none."""
    for shards, tensor, _, nodes in lazy.reduced.values():
        taken = [base_of(shard.uop) for shard in shards]
        given = base_of(tensor.uop)
        if given.op in (Ops.BUFFER, Ops.MSTACK):
            devices = [named.device(each.buffer) for each in taken]
            results = getattr(given.buffer, "bufs", [given.buffer])
            yield Meeting(
                nodes={node.device: node for node in nodes},
                devices=tuple(devices),
                taken=tuple(named.of(each.buffer) for each in taken),
                given={named.device(each): named.of(each) for each in results},
            )


def _places(lazy: Lazy, named: _Buffers, graph: Graph) -> Iterator[Place]:
    """Yield where the results are that are stored anywhere; a constant is nowhere."""
    shapes = {node.id: node.shape for node in graph.nodes}
    for node, tensor in lazy.results.items():
        base = base_of(tensor.uop)
        if base.op is not Ops.BUFFER:
            continue
        bounds = {name: (graph.variables[name].low, graph.variables[name].high) for name in _named_in(tensor.uop)}
        if bounds:
            index_map = fit_all(partial(_shown, tensor.uop), shapes[node], bounds)
            if index_map is None:
                raise Unsupported("a result that no strides show in its buffer for all values of a variable")
            yield Place(node=node, buffer=named.of(base.buffer), map=index_map)
            continue
        _, segments = segments_of(tensor.uop, {})
        beyond = [*(segment.size for segment in segments), int(base.numel())][1:]
        chain = tuple(
            part
            for segment, size in zip(segments, beyond, strict=True)
            if segment.size != size or (segment.reshape(-1) != np.arange(size)).any()
            for part in fit(segment, segment >= 0) or ()
        )
        yield Place(node=node, buffer=named.of(base.buffer), map=chain or None)


def _symbolic(access: Access, most: Values) -> tuple[Dim, ...]:
    """Return the shape with a variable in it that a buffer is written in row by row, no axis if there is none."""
    if access.map is None or len(access.map) > 1 or access.map[0].offset or access.map[0].variables:
        return ()
    (affine,) = access.map
    axes = sorted(zip(affine.strides, affine.extents, strict=True), key=lambda axis: -axis[0])
    shape = tuple(extent for stride, extent in axes if stride)
    (rows,) = contiguous(sizes(shape, most))
    if not any(isinstance(extent, str) for extent in shape) or rows.strides != tuple(s for s, _ in axes if s):
        return ()
    return shape


def _named_in(view: UOp) -> list[str]:
    """Return the variables that a chain of movement depends on."""
    return [] if view.op is Ops.BUFFER else [each.expr for each in view.variables()]


def _shown(view: UOp, values: Mapping[str, int]) -> tuple[Indices, Any]:
    _, table = elements_of(view, values)
    assert table is not None  # for it is movement that depends on a variable
    return table, table >= 0


class _Buffers:
    """The buffers of a schedule by their names, which are those of the graph for what was there before."""

    def __init__(self, devices: dict[str, str], lazy: Lazy) -> None:
        self._devices = devices
        self._found: dict[tuple[int, int, int, str], str] = {}
        self._kept: list[Any] = []
        self._made: dict[str, Buffer] = {}
        self._arenas: dict[str, Buffer] = {}
        for name, tensor in lazy.storage.items():
            if tensor.uop.base.op is not Ops.BUFFER:
                # What has no elements is never copied to a device.
                raise Unsupported(f"the buffer {name!r} without elements")
            self._declare(tensor.uop.buffer, name, preexisting=True, held=True)

    def of(self, buffer: Any) -> str:
        """Return the name of a buffer, or of a part of one."""
        key = self._key(buffer)
        if key in self._found:
            return self._found[key]
        if buffer.base is buffer:
            return self._declare(buffer, f"t{len(self._made)}")
        base = self.of(buffer.base)
        return self._declare(buffer, f"{base}[{buffer.offset}:{buffer.offset + buffer.nbytes}]", base=base)

    def device(self, buffer: Any) -> str:
        """Return the graph's name for the device of a buffer."""
        return self._devices[str(buffer.device)]

    def plan(self, logical: Any, physical: Any) -> None:
        """Note that the planner put ``logical`` where ``physical`` is."""
        name = self.of(logical)
        if logical.base is not logical or physical.base is physical:
            return
        arena = physical.base
        known = self._found.get(self._key(arena), f"arena{len(self._arenas)}")
        if known not in self._arenas:
            self._kept.append(arena)
            self._found[self._key(arena)] = known
            device = self.device(arena)
            self._arenas[known] = Buffer(id=known, size=arena.nbytes, dtype=NAMES[arena.dtype], device=device)
        self._made[name] = msgspec.structs.replace(self._made[name], base=known, offset=physical.offset, planned=True)

    def declared(self, outputs: set[str], symbolic: Mapping[str, tuple[Dim, ...]]) -> tuple[Buffer, ...]:
        """Return all buffers, those of ``outputs`` marked as read after the schedule, with the shapes of some."""
        found = (*self._arenas.values(), *self._made.values())
        return tuple(
            msgspec.structs.replace(each, output=each.id in outputs, shape=symbolic.get(each.id)) for each in found
        )

    def _declare(self, buffer: Any, name: str, **flags: Any) -> str:
        # Kept alive, for a name is tied to its identity.
        self._kept.append(buffer)
        self._found[self._key(buffer)] = name
        offset = buffer.offset if "base" in flags else 0
        self._made[name] = Buffer(
            id=name, size=buffer.nbytes, dtype=NAMES[buffer.dtype], device=self.device(buffer), offset=offset, **flags
        )
        return name

    def _key(self, buffer: Any) -> tuple[int, int, int, str]:
        return id(buffer.base), buffer.offset, buffer.nbytes, str(buffer.dtype)
