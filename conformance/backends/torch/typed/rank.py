"""Typed programs on one rank: gradients by autograd, slices by ``torch.func.vmap``, types by distributed tensors."""

from __future__ import annotations

import logging
import socket
import warnings
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

import msgspec
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh

from conformance.backends.attribution import adapter, framework
from conformance.backends.base import Unsupported
from conformance.backends.torch.error_messages import described
from conformance.backends.torch.operation import Operation
from conformance.backends.torch.processes import wire
from conformance.backends.torch.processes.rank import Communicators, to_tensor, to_torch
from conformance.backends.torch.processes.store import Meeting
from conformance.backends.torch.typed.dtensor import LOCAL, Placed
from conformance.cases.observation import RankError
from conformance.cases.program.program import rank_groups
from conformance.cases.tensor.tensor import Tensor, to_array
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_case import Level, TypedCase
from conformance.cases.types.typed_program import TypedProgram, TypedStep

Values = dict[str, torch.Tensor]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What one rank has of what was asked for, or what it raised; nothing when it is ready."""

    results: dict[str, Tensor] = {}
    types: dict[str, AxisType] = {}
    error: RankError | None = None


Meshes = dict[tuple[int, ...], DeviceMesh]


def serve(
    operations: Mapping[str, Operation],
    channel: socket.socket,
    rank: int,
    world: int,
    meeting: Meeting,
    timeout: float,
) -> None:
    """Run cases from ``channel`` as ``rank`` of ``world`` until the channel ends."""
    warnings.filterwarnings("ignore")
    # It says of each redistribution that another would be faster.
    logging.getLogger("torch").setLevel(logging.ERROR)
    patience = timedelta(seconds=timeout)
    dist.init_process_group("gloo", store=meeting.join(rank, world), rank=rank, world_size=world, timeout=patience)
    communicators = Communicators(rank, world, patience)
    wire.send(channel, msgspec.msgpack.encode(Answer()))
    inbox, meshes = wire.Inbox(channel), Meshes()
    decode: Callable[[bytes], TypedCase] = msgspec.msgpack.Decoder(TypedCase).decode
    while (messages := inbox.read()) is not None:
        for case in map(decode, messages):
            wire.send(channel, msgspec.msgpack.encode(_observed(case, rank, operations, communicators, meshes)))


def _observed(
    case: TypedCase, rank: int, operations: Mapping[str, Operation], communicators: Communicators, meshes: Meshes
) -> Answer:
    try:
        given = {name: to_torch(to_array(blocks[rank])) for name, blocks in case.inputs.items()}
        if case.batch:
            mapped = _Run(case.program, operations, communicators).mapped(case.batch, given)
            return Answer(results={name: _tensor(value) for name, value in mapped.items()})
        if not case.cotangents:
            types, values = Placed(case.program, _mesh(case.program, meshes)).run(given)
            return Answer(results={name: _tensor(value) for name, value in values.items()}, types=types)
        cotangents = {name: to_torch(to_array(blocks[rank])) for name, blocks in case.cotangents.items()}
        run = _Run(case.program, operations, communicators)
        found = run.pulled(given, cotangents)
        return Answer(results={name: _tensor(value) for name, value in found.items()})
    except Exception as error:  # noqa: BLE001 - whatever is raised is what happened
        return Answer(error=described(error))


def _mesh(program: TypedProgram, meshes: Meshes) -> DeviceMesh:
    """Return the mesh of a program, which all ranks make together once."""
    sizes = tuple(axis.size for axis in program.mesh)
    if sizes not in meshes:
        with framework():
            meshes[sizes] = DeviceMesh("cpu", torch.arange(program.world).reshape(sizes))
    return meshes[sizes]


def _tensor(value: torch.Tensor) -> Tensor:
    found = to_tensor(value.detach())
    assert found is not None
    return found


class _Run:
    """A program, what carries its steps, and the process groups that they meet in."""

    def __init__(
        self, program: TypedProgram, operations: Mapping[str, Operation], communicators: Communicators
    ) -> None:
        self.program, self.operations, self.communicators = program, operations, communicators

    def pulled(self, given: Values, cotangents: Values) -> Values:
        """Return the gradient of each input by ``torch.autograd.grad``, zeros where no result depends on it."""
        with framework():
            leaves = {name: value.requires_grad_() for name, value in given.items()}
        values = self.values(leaves)
        with framework():
            found = torch.autograd.grad(
                [values[name] for name in cotangents],
                list(leaves.values()),
                list(cotangents.values()),
                materialize_grads=True,
            )
        return dict(zip(leaves, found, strict=True))

    def mapped(self, levels: Sequence[Level], given: Values) -> Values:
        """Return the results under one ``torch.func.vmap`` for each level, the outermost first."""

        @adapter()
        def results(values: Values) -> Values:
            made = self.values(values)
            return {name: made[name] for name in self.program.results}

        function: Callable[[Values], Values] = results
        for level in reversed(levels):
            axes = ({name: level.inputs.get(name) for name in given},)
            with framework():
                function = torch.func.vmap(function, in_dims=axes, out_dims=level.result)
        with framework():
            return function(given)

    def values(self, given: Mapping[str, torch.Tensor]) -> Values:
        """Return the value of each name of the program."""
        values = dict(given)
        for step in self.program.steps:
            values[step.output] = self._made(step, [values[name] for name in step.inputs])
        return values

    def _made(self, step: TypedStep, operands: list[torch.Tensor]) -> torch.Tensor:
        if step.op == "sum":
            with framework():
                return torch.sum(operands[0], int(str(step.attrs["axis"])), dtype=operands[0].dtype)
        if step.op in LOCAL:
            with framework():
                local: torch.Tensor = LOCAL[step.op](*operands)
            return local
        if step.attrs.get("to") == "reduced":
            raise Unsupported("no collective of Torch has a result that is reduced")
        if not step.axes:
            return operands[0]
        group = self.communicators.of(rank_groups(self.program.mesh, step.axes, step.groups))
        attrs = {name: value for name, value in step.attrs.items() if name not in ("to", "local_axes")}
        (made,) = self.operations[step.op](operands, group, **attrs)
        tensor: torch.Tensor = made
        return tensor
