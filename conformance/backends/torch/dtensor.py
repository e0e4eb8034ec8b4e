"""Programs on sharded tensors as ``DTensor``, on one rank: each runs the same program on its own parts."""

from __future__ import annotations

import socket
import warnings
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final

import msgspec
import numpy as np
import torch
import torch.distributed as dist
from torch.distributed._functional_collectives import AsyncCollectiveTensor
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor._utils import compute_local_shape_and_global_offset

from conformance.backends.attribution import framework
from conformance.backends.base import Claims, Unsupported
from conformance.backends.torch.claims import COMPLEX, REALS
from conformance.backends.torch.error_messages import described
from conformance.backends.torch.graphs import CLAIMS as GRAPHS
from conformance.backends.torch.graphs import Eager, tensor_of
from conformance.backends.torch.processes import wire
from conformance.backends.torch.processes.store import Meeting
from conformance.cases.graph.elementwise import Fold
from conformance.cases.graph.graph import Node
from conformance.cases.observation import RankError
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import REPLICATED, Box, Placement
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import Tensor, from_array

_HOMES: Final = ("replicated", "even", "uneven", "empty", "crossed", "no_axis")

MOST_PROCESSES: Final = 8
"""Processes that meet, at most."""

CLAIMS: Final[Claims] = {
    "sharded": {
        **{name: words for name, words in GRAPHS["graph"].items() if name in ("operation", "nothing", "index")},
        # Parts are scattered, gathered and exchanged over gloo, which has no int16.
        "dtype": (*REALS, *COMPLEX),
        # ``Shard`` cuts as ``torch.chunk`` does; a second one cuts each part of the first, which differs where uneven.
        "homes": _HOMES,
        # copy_ broadcasts and converts.
        "misfit": ["none"],
        "moves": ("none", *_HOMES, "partial"),
        "extents": ["numbers"],
        # Each device is a process of its own.
        "world": tuple(str(count) for count in range(1, MOST_PROCESSES + 1)),
        # A view of a DTensor is one of its own parts.
        "target": ["none", "whole"],
    }
}
"""What the documentation of ``torch.distributed.tensor`` supports."""

FOLDS: Final[Mapping[str, Fold]] = {"sum": "add", "product": "mul", "max": "max", "min": "min"}


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """What one rank has of the results, and of which elements, or what it raised; nothing when it is ready."""

    results: dict[str, Tensor] | None = None
    boxes: dict[str, Box] = {}
    partial: dict[str, dict[str, Fold]] = {}
    sizes: dict[str, int] = {}
    error: RankError | None = None


class Placed(Eager):
    """A case whose values are distributed tensors."""

    def __init__(self, case: ShardedCase, mesh: DeviceMesh) -> None:
        """Begin on a mesh."""
        self.sharded, self.mesh = case, mesh
        self.part = Part(results={}, boxes={}, partial={})
        super().__init__(case.of)

    def placements(self, placement: Placement, rank: int) -> list[Any]:
        """Return the placement along each axis of the mesh."""
        found: list[Any] = [Replicate() for _ in self.sharded.mesh]
        names = [axis.name for axis in self.sharded.mesh]
        if placement.masks:
            raise Unsupported("a DTensor has no masks")
        for split in placement.splits:
            for name in split.along:
                if name not in names:
                    raise Unsupported(f"the mesh has no axis {name!r}")
                found[names.index(name)] = Shard(split.axis)
        del rank
        return found

    def spread(self, whole: torch.Tensor, placement: Placement = REPLICATED) -> DTensor:
        """Return a tensor that every rank has, distributed."""
        placements = self.placements(placement, whole.ndim)
        with framework():
            return distribute_tensor(whole, self.mesh, placements)

    def storage(self, name: str, array: Array) -> Any:
        """Return a buffer, distributed in its own shape."""
        super().storage(name, array)
        whole = tensor_of(array.reshape(self.case.buffers[name].shape))
        return self.spread(whole, self.sharded.homes.get(name, REPLICATED))

    def write(self, name: str, array: Array) -> None:
        """Copy an array into a whole buffer."""
        given = self.storage(name, array)
        with framework():
            self.storages[name].copy_(given)

    def shaped(self, value: Any, shape: tuple[int, ...]) -> Any:
        """Return a buffer in the shape of a node that names it."""
        with framework():
            return value if value.shape == shape else value.view(shape)

    def assign(self, node: Node, value: Any, *, copied: bool) -> None:
        """Copy a value into a whole buffer, or into a reshape of one."""
        home = self.storages[self.home(node.of[0])]
        with framework():
            given = value.clone() if copied else value
            home.copy_(given.reshape(home.shape))

    def made(self, node: Node, of: list[Any]) -> Any:
        """Return the value of a node: what no rank was given is replicated."""
        if node.op == "copy":
            placements = self.placements(self.sharded.moves.get(node.id, REPLICATED), len(node.shape))
            with framework():
                return of[0].redistribute(self.mesh, placements).clone()
        made = super().made(node, of)
        return made if isinstance(made, DTensor) else self.spread(made.contiguous())

    def arrays(self, values: list[Any]) -> list[Any]:
        """Return values as they are now: names of storage, none of which is pending, show what is written later."""
        with framework():
            return [each if any(isinstance(at, Partial) for at in each.placements) else each.clone() for each in values]

    def held(self, name: str) -> Any:
        """Return a buffer as it is now."""
        with framework():
            return self.storages[name].clone()

    def answer(self) -> Part:
        """Return what this rank has of what was asked for."""
        results: dict[str, Tensor] = {}
        boxes: dict[str, Box] = {}
        partial: dict[str, dict[str, Fold]] = {}
        sizes: dict[str, int] = {}
        for key, value in self.run().items():
            with framework():
                local = value.to_local()
                local = local.wait() if isinstance(local, AsyncCollectiveTensor) else local
                shape, first = compute_local_shape_and_global_offset(value.shape, self.mesh, value.placements)
                sizes[key] = value.numel()
            results[key] = from_array(self.array(local))
            boxes[key] = tuple((begin, begin + extent) for begin, extent in zip(first, shape, strict=True))
            names = [axis.name for axis in self.sharded.mesh]
            pairs = zip(names, value.placements, strict=True)
            partial[key] = {name: FOLDS[at.reduce_op] for name, at in pairs if isinstance(at, Partial)}
        return Part(results=results, boxes=boxes, partial=partial, sizes=sizes)


def serve(channel: socket.socket, rank: int, world: int, meeting: Meeting, timeout: float) -> None:
    """Run cases from ``channel`` as ``rank`` of ``world`` until the channel ends."""
    warnings.filterwarnings("ignore")
    patience = timedelta(seconds=timeout)
    dist.init_process_group("gloo", store=meeting.join(rank, world), rank=rank, world_size=world, timeout=patience)
    meshes: dict[tuple[tuple[int, ...], tuple[int, ...]], DeviceMesh] = {}
    _warm(world)
    wire.send(channel, msgspec.msgpack.encode(Part()))
    inbox = wire.Inbox(channel)
    decode: Callable[[bytes], ShardedCase] = msgspec.msgpack.Decoder(ShardedCase).decode
    while (messages := inbox.read()) is not None:
        for case in map(decode, messages):
            wire.send(channel, msgspec.msgpack.encode(_observed(case, meshes)))


def _warm(world: int) -> None:
    """Compute something: the first operation on a DTensor imports what takes seconds on a busy machine."""
    mesh = DeviceMesh("cpu", torch.arange(world))
    value = distribute_tensor(torch.zeros(world), mesh, [Shard(0)])
    total: Any = value + value
    total.redistribute(mesh, [Replicate()]).to_local()


def _observed(case: ShardedCase, meshes: dict[tuple[tuple[int, ...], tuple[int, ...]], DeviceMesh]) -> Part:
    try:
        sizes = tuple(axis.size for axis in case.mesh)
        if (sizes, case.devices) not in meshes:
            with framework():
                grid = torch.from_numpy(np.array(case.devices).reshape(sizes))
                meshes[sizes, case.devices] = DeviceMesh("cpu", grid)
        return Placed(case, meshes[sizes, case.devices]).answer()
    except Exception as error:  # noqa: BLE001 - whatever is raised is what happened
        return Part(error=described(error))
