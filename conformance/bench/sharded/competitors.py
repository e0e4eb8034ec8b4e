"""Who computes the timed programs on sharded tensors: each on its own devices, all of them parts of one processor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any, Final

import numpy as np
from msgspec.structs import replace

from conformance.backends.lowering import Answer, lowered
from conformance.bench.graphs.competitors import OfGraphs, OfJax, OfTinygrad, Ready, copy
from conformance.bench.graphs.tensors import GraphListing
from conformance.bench.graphs.timed_graphs import Timed
from conformance.bench.sharded.dtensor import Ranks
from conformance.bench.sharded.programs import PROGRAMS, Program
from conformance.cases.graph.case import GraphCase, Round, asked_key
from conformance.cases.graph.graph import Node
from conformance.cases.program.program import Axis
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import REPLICATED, Placement, Split, even_cuts, layout_of
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import from_array, to_array

Inputs = tuple[Array, ...]
MESH_AXIS: Final = "i"


def opencl(program: Program, inputs: Inputs, devices: int) -> Ready:
    """Return the program as the native engine has it: one graph over the devices."""
    from conformance.backends.discovery import find, load
    from conformance.backends.opencl import OpenCL

    backend = load(find("opencl"))
    assert isinstance(backend, OpenCL)
    whole, answer = _lowered(program, inputs, devices)
    held = backend.graphs.held(whole, {name: to_array(each) for name, each in whole.buffers.items()})

    def run() -> Any:
        started = held.launch()
        started.wait()
        return started

    def array(started: Any) -> Array:
        pieces = [(box, key) for box, key in zip(answer.layout.boxes, answer.keys, strict=True) if box and key]
        shape = tuple(max(box[axis][1] for box, _ in pieces) for axis in range(len(pieces[0][0])))
        out = np.empty(shape, np.float32)
        for box, key in pieces:
            out[tuple(slice(*pair) for pair in box)] = started.read(key.partition("/")[2])
        return out

    return Ready(run, array)


def _lowered(program: Program, inputs: Inputs, devices: int) -> tuple[GraphCase, Answer]:
    """Return the graph over devices, moved in the end if the result is not where it is wanted."""
    listing = GraphListing()
    computed = program.of.made(OfGraphs(), *(listing.buffer(*each.shape) for each in inputs))
    asked, of = computed.node, listing.case((computed,))
    data = {f"b{number}": from_array(each) for number, each in enumerate(inputs)}
    homes = {f"b{n}": _placement(axis, inputs[n].shape, devices) for n, axis in enumerate(program.cut)}
    shape = tuple(int(extent) for extent in asked.shape)
    last = Node(id="out", op="copy", of=(asked.id,), shape=shape, dtype=asked.dtype, device=asked.device)
    wanted = _placement(program.out, shape, devices)
    mesh = (Axis(MESH_AXIS, devices),)
    for nodes, result in ((of.graph.nodes, asked.id), ((*of.graph.nodes, last), last.id)):
        graph = replace(of.graph, nodes=nodes, results=(result,))
        whole = replace(of, graph=graph, buffers=data, rounds=(Round(until=len(nodes), asked=(result,)),))
        moves = {last.id: wanted} if result == last.id else {}
        case = ShardedCase(mesh=mesh, devices=tuple(range(devices)), of=whole, homes=homes, moves=moves)
        made, answers = lowered(case, checked=False)
        answer = answers[asked_key(0, result)]
        if answer.layout == layout_of(shape, wanted, mesh):
            break
    return made, answer


def _placement(axis: int | None, shape: tuple[int, ...], devices: int) -> Placement:
    if axis is None:
        return REPLICATED
    return Placement(splits=(Split(axis=axis, along=(MESH_AXIS,), cuts=even_cuts(shape[axis], devices)),))


def jax(program: Program, inputs: Inputs, devices: int) -> Ready:
    """Return the program under ``jit`` on arrays with a ``NamedSharding``."""
    from conformance.backends.jax.devices import start

    found = start()
    if len(found) < devices:
        raise RuntimeError(f"JAX has {len(found)} devices here")
    import jax
    import jax.numpy as jnp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array(found[:devices], object), (MESH_AXIS,))

    def sharding(axis: int | None) -> NamedSharding:
        spec: Any = PartitionSpec
        return NamedSharding(mesh, spec() if axis is None else spec(*[None] * axis, MESH_AXIS))

    given = [jax.device_put(each, sharding(axis)) for each, axis in zip(inputs, program.cut, strict=True)]
    made = jax.jit(lambda *xs: program.of.made(OfJax(jnp), *xs), out_shardings=sharding(program.out))
    return Ready(lambda: made(*given).block_until_ready(), np.asarray)


def tinygrad(program: Program, inputs: Inputs, devices: int) -> Ready:
    """Return the program under ``TinyJit`` on tensors that ``shard`` split."""
    module: Any = import_module("tinygrad")
    kind = module.Device.DEFAULT
    names = tuple(f"{kind}:{number}" for number in range(devices))
    given = [
        module.Tensor(each).shard(names, axis).contiguous().realize()
        for each, axis in zip(inputs, program.cut, strict=True)
    ]
    module.Device[kind].synchronize()

    @module.TinyJit  # type: ignore[untyped-decorator]
    def made(*xs: Any) -> Any:
        found = program.of.made(OfTinygrad(), *xs)
        if found.uop.axis != program.out:
            found = found.to(names[0]).shard(names, program.out)
        return found.contiguous().realize()

    def run() -> Any:
        found = made(*given)
        for name in names:
            module.Device[name].synchronize()
        return found

    for _ in range(2):
        run()
    return Ready(run, lambda found: np.asarray(found.numpy()))


_RANKS: Final[dict[int, Ranks]] = {}
"""The processes of Torch, by number of devices."""


def torch(program: Program, inputs: Inputs, devices: int) -> Ready:
    """Return the program on ``DTensor``, on a process a device that Gloo connects."""
    return _RANKS.setdefault(devices, Ranks(devices)).ready(program, inputs)


COMPETING: Final[Mapping[str, Callable[[Program, Inputs, int], Ready]]] = {
    "opencl": opencl,
    "jax": jax,
    "torch": torch,
    "tinygrad": tinygrad,
}
"""Who may be measured."""


def on_devices(devices: int) -> dict[str, Callable[[Timed, Inputs], Ready]]:
    """Return who may be measured, on so many devices each, and the copy of memory beside them."""

    def ready(name: str, graph: Timed, inputs: Inputs) -> Ready:
        return COMPETING[name](PROGRAMS[graph.name], inputs, devices)

    return {**{name: partial(ready, name) for name in COMPETING}, "copy": copy}


def close() -> None:
    """End the processes of Torch that were started."""
    while _RANKS:
        _RANKS.popitem()[1].close()
