"""What Inductor made of a function, as kernels and buffers: its scheduler's nodes and its wrapper, read back.

A kernel is one entry of the scheduler's list: the loops that Inductor fused, or a call of a kernel of ATen, which is
opaque. Inductor puts several of the first in one C++ function, that runs them one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec.structs import replace
from torch._inductor.graph import GraphLowering
from torch._inductor.ir import CommBufferLayout, CommBufferType, MultiOutput, MultiOutputLayout

from conformance.backends.base import Unsupported
from conformance.backends.torch.inductor.body import Memory, body_of, named, written
from conformance.backends.torch.inductor.wrapper import View, Wrapper
from conformance.cases.graph.buffer import Buffer
from conformance.cases.schedule.communication import SYMMETRIC
from conformance.cases.schedule.index_map import Affine
from conformance.cases.schedule.kernel_body import Body
from conformance.cases.schedule.schedule import Access, Binding, Kernel
from conformance.cases.tensor.dtypes import NUMPY

KINDS: Final = {CommBufferType.SYMM_MEM: SYMMETRIC}
"""The kinds of communication buffers that Inductor has."""


@dataclass(frozen=True)
class Function:
    """What was compiled: its arguments are ``storages``, then ``variables``, each with its value.

    ``results`` is how many it returns. ``origins`` says at which element of its storage an argument begins, 0 by
    default, and ``own`` makes the id of a name of Inductor's.
    """

    device: str
    storages: tuple[Buffer, ...]
    results: int
    variables: Mapping[str, int] = field(default_factory=dict)
    origins: Mapping[str, int] = field(default_factory=dict)
    own: Callable[[str], str] = str
    communicators: Mapping[str, str] = field(default_factory=dict)


@dataclass
class LoweredFunction:
    """What Inductor made of a function: its ``lowered`` graph, and the ``wrapper``."""

    function: Function
    lowered: GraphLowering
    wrapper: Wrapper
    _local: dict[str, Buffer] = field(default_factory=dict)
    _used: dict[str, Buffer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Say which arguments are which; raise ``Unsupported`` where there are others."""
        given = list(self.lowered.graph_inputs)
        names = [*(each.id for each in self.function.storages), *self.function.variables]
        if len(given) != len(names) or len(self.wrapper.returned) != self.function.results:
            raise Unsupported("a function with other arguments or results than were traced")
        count = len(self.function.storages)
        self._arguments: dict[str, str] = dict(zip(given[:count], names, strict=False))
        self._variables: dict[str, str] = dict(zip(given[count:], names[count:], strict=True))

    def items(self) -> Iterator[Kernel]:
        """Yield a kernel for each entry of the scheduler's list that does anything."""
        for node in self.lowered.scheduler.nodes:
            if not self.names_only(node):
                yield self.kernel(node)

    def names_only(self, node: Any) -> bool:
        """Return whether an entry of the scheduler's list only gives memory a name."""
        if type(node).__name__ == "NopKernelSchedulerNode":
            return True
        return (
            isinstance(node.node, MultiOutput)
            and self.wrapper.view(node.node.get_name()).storage != node.node.get_name()
        )

    def kernel(self, node: Any) -> Kernel:
        """Return the kernel of an entry of the scheduler's list."""
        accesses: list[Access] = []
        try:
            bodies = self._bodies(node, accesses)
        except Unsupported:
            # Of what has no body it is known what it reads and writes.
            bodies, accesses = (), list(self._opaque(node))
        loaded = {part.name for part in node.read_writes.reads}
        bound = [name for argument, name in self._variables.items() if argument in loaded]
        if bound and not bodies:
            raise Unsupported("a variable that a kernel without a body takes")
        variables = tuple(Binding(name, self.function.variables[name]) for name in bound)
        return Kernel(
            id=self.function.own(node.get_name()), device=self.function.device, accesses=tuple(accesses),
            bodies=bodies, variables=variables,
        )  # fmt: skip

    def _bodies(self, node: Any, accesses: list[Access]) -> tuple[Body, ...]:
        """Return a body for each nest of loops; several share their outer loops, and wait for each other there."""
        inner = node.get_nodes()
        if not all(hasattr(each, "_body") for each in inner):
            raise Unsupported("a call")
        nests = node.get_outer_nodes() if hasattr(node, "get_outer_nodes") else [node]
        groups = int(node.outer_loop_fusion_depth) if len(nests) > 1 else 0
        own = self._between(node) if groups else {}
        kept = self._kept - set(own)
        memory = Memory(
            buffer=lambda name: (own[name].id, 0) if name in own else self.at(self.wrapper.view(self._real(name))),
            dtype=lambda name: named(self.lowered.get_dtype(name)),
            variables=self._variables,
            kept=kept,
        )
        made = tuple(
            body_of(each.get_nodes(), memory, accesses, phase=phase, groups=groups) for phase, each in enumerate(nests)
        )
        self._local |= {each.id: each for each in own.values()}
        return made

    def _between(self, node: Any) -> dict[str, Buffer]:
        """Return what loops under shared outer ones leave for each other and nobody else reads, as local memory."""
        names = {name for each in node.get_nodes() for name in each.get_buffer_names()}
        returned = {view.storage for view in self.wrapper.returned}
        found: dict[str, Buffer] = {}
        for name in sorted(names):
            buffer = self.lowered.scheduler.name_to_buf[name]
            inside = all(user.node in node.get_nodes() for user in buffer.users)
            if inside and name == self._real(name) and self.wrapper.view(name).storage not in returned:
                found[name] = self._buffer(name, local=True)
        read = {part.name for each in node.get_nodes() for part in each.read_writes.reads}
        if any(name in names and name not in found for name in read):
            raise Unsupported("loops that leave for each other what others see")
        return found

    def _opaque(self, node: Any) -> Iterator[Access]:
        made = set(node.get_buffer_names())
        for name in dict.fromkeys(part.name for part in node.read_writes.reads):
            if name not in made and name not in self._variables:
                yield Access(buffer=self.at(self.wrapper.view(self._real(name)))[0])
        told = {part.name: part for part in node.read_writes.writes}
        for each in node.get_buffer_names():
            if each not in self._kept:
                buffer, offset = self.at(self.wrapper.view(self._real(each)))
                place = written(told.get(each), offset)
                if place is None and self._real(each) in self._arguments:
                    raise Unsupported("a storage that is written without a word where")
                yield Access(buffer=buffer, write=True, map=place)

    @property
    def _kept(self) -> frozenset[str]:
        """Return the names that no memory is written for: who takes them has them at hand."""
        return frozenset(self.lowered.removed_buffers) | frozenset(self.lowered.inplaced_to_remove)

    def _real(self, name: str) -> str:
        """Return the name of what a name is a later version of."""
        found: str = self.lowered.scheduler.mutation_real_name.get(name, name)
        return found

    def at(self, view: View) -> tuple[str, int]:
        """Return the buffer that a view shows, and where it begins there."""
        if view.storage in self._arguments:
            name = self._arguments[view.storage]
            return name, view.offset + self.function.origins.get(name, 0)
        if view.storage not in self._used:
            self._used[view.storage] = self._buffer(view.storage)
        return self._used[view.storage].id, view.offset

    def mapped(self, view: View) -> Any:
        """Return where the elements of a returned view lie."""
        _, offset = self.at(view)
        if view.sizes is None:
            layout = self.layout(view.storage)
            return (Affine(extents=_numbers(layout.size), strides=_numbers(layout.stride), offset=offset),)
        return (Affine(extents=view.sizes, strides=view.strides, offset=offset),)

    def layout(self, name: str) -> Any:
        """Return the extents, strides and dtype of what has a name of its own, an argument or not."""
        if name in self._arguments:
            return self.lowered.graph_inputs[name].get_layout()
        found: Any = self.lowered.get_buffer(name)
        if isinstance(found.layout, MultiOutputLayout):
            # What a call gives that may give several: the only one has a name of its own for the same memory.
            found = next(self.lowered.get_buffer(each) for each in self.parts(name))
        return found.get_layout()

    def parts(self, name: str) -> list[str]:
        """Return the names of the memory that a call gives, beside its own."""
        return [each for each, view in self.wrapper.names.items() if view.storage == name != each]

    def _buffer(self, name: str, *, local: bool = False) -> Buffer:
        layout = self.layout(name)
        extents, strides = _numbers(layout.size), _numbers(layout.stride)
        last = sum((extent - 1) * stride for extent, stride in zip(extents, strides, strict=True))
        dtype = named(layout.dtype)
        size = (last + 1) * NUMPY[dtype].itemsize if math.prod(extents) else 0
        own, device = self.function.own(name), self.function.device
        made = Buffer(
            id=own,
            size=size,
            dtype=dtype,
            device=device,
            local=local,
            unfused=name in self.lowered.no_fuse_buffer_names,
        )
        if not isinstance(layout, CommBufferLayout):
            return made
        return replace(
            made,
            communication=self.function.communicators[layout.group_name],
            communication_kind=KINDS[layout.comm_buffer_type],
            allocation=self.wrapper.allocations.get(name, ""),
        )

    def rerun(self) -> dict[str, str]:
        """Run the wrapper once more, and return the allocation of each buffer that lasts."""
        runs = self.wrapper.runs
        return {} if runs is None else {self.function.own(name): given for name, given in runs.run().items()}

    def declared(self, returned: set[str]) -> tuple[Buffer, ...]:
        """Return all buffers: those that were given, and what the wrapper allocates."""
        own = [replace(each, output=each.id in returned) for each in self._used.values()]
        return (*self.function.storages, *own, *self._local.values())


def _numbers(extents: Any) -> tuple[int, ...]:
    return tuple(int(each) for each in extents)
