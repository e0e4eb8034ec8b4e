"""An ``spmd`` program on one rank as a traced function of its inputs, and of the storages of its buffers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import numpy as np
import torch
from torch.fx import traceback
from torch.fx.experimental.proxy_tensor import make_fx

from conformance.backends.attribution import adapter, framework
from conformance.backends.case_arrays import Placed, place_inputs, placed_operand
from conformance.backends.torch.effects import Storage
from conformance.backends.torch.inductor.fake_group import NamedCommunicators
from conformance.backends.torch.inductor.traced_operations import OPERATIONS
from conformance.backends.torch.operation import idle
from conformance.backends.torch.processes.rank import run, to_torch
from conformance.cases.case import Case
from conformance.cases.graph.buffer import Buffer
from conformance.cases.program.program import NO_COLLECTIVES, Program
from conformance.cases.tensor.dtypes import Array, logical

STEP: Final = "step"
"""Under which word what is traced says which step of the program it does."""


def of_rank(case: Case, rank: int) -> Case:
    """Return the case with the blocks of one rank alone."""
    inputs = {
        name: msgspec.structs.replace(x, blocks=(x.blocks[rank],), layouts=(x.layouts[rank],))
        for name, x in case.inputs.items()
    }
    return msgspec.structs.replace(case, inputs=inputs)


@dataclass
class TracedProgram:
    """The function of a rank: its arguments, by the name of the storage that each is or lies in, and its results.

    An input is given as it is laid out. One that a buffer begins as is given as all of its storage, and so is the
    buffer, which is as good as empty at first: the function writes all of it. ``placed`` are the storages.
    """

    case: Case
    rank: int
    storages: list[Buffer] = field(default_factory=list)
    origins: dict[str, int] = field(default_factory=dict)
    given: list[torch.Tensor] = field(default_factory=list)
    results: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Place the inputs, and the buffers."""
        self.case = of_rank(self.case, self.rank)
        self.placed = place_inputs(self.case)
        buffers = self.case.program.buffers
        for name in self.case.inputs:
            ((storage, view),) = self.placed[name]
            whole = name in buffers.values()
            self._argument(name, storage, storage if whole else view, preexisting=True)
        for name, source in buffers.items():
            self.placed[name] = placed_operand(self.case.inputs[source])
            ((storage, _),) = self.placed[name]
            self._argument(name, storage, storage, preexisting=False)

    def _argument(self, name: str, storage: Array, given: Array, *, preexisting: bool) -> None:
        own = f"{name}[{self.rank}]"
        self.storages.append(
            Buffer(
                id=own, size=storage.nbytes, dtype=logical(storage.dtype), device=str(self.rank),
                preexisting=preexisting, held=True,
            )
        )  # fmt: skip
        self.origins[own] = _origin(storage, given) if preexisting else 0
        self.given.append(to_torch(given))

    def traced(self, communicators: NamedCommunicators) -> torch.fx.GraphModule:
        """Return the traced function; raise whatever the program raises on this rank."""

        def listed(*given: torch.Tensor) -> list[torch.Tensor]:
            with adapter():
                return self._run(given, communicators)

        # On tensors without data: nothing is computed, and nobody is met.
        tracing: Any = make_fx(listed, tracing_mode="fake")
        with framework(), traceback.preserve_node_meta():
            found: torch.fx.GraphModule = tracing(*self.given)
        return found

    def _run(self, given: tuple[torch.Tensor, ...], communicators: NamedCommunicators) -> list[torch.Tensor]:
        arguments = dict(zip((each.id.rpartition("[")[0] for each in self.storages), given, strict=True))
        homes = _Homes(self.case, dict(self.placed), arguments)
        values: dict[str, Any] = {name: homes.input(name) for name in self.case.inputs}
        operations = labelled(self.case.program)
        run(self.case, values, operations, communicators, homes)
        asked = dict.fromkeys(self.case.program.results)
        self.results = [name for name in asked if values[name] is not None]
        return [values[name] for name in self.results]


def labelled(program: Program) -> dict[str, Any]:
    """Return the operations, which say of what is traced in them which step of the program it does."""
    steps = (n for n, step in enumerate(program.steps) if step.op not in NO_COLLECTIVES and not idle(step))

    def of(operation: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any, **attrs: Any) -> Any:
            with traceback.annotate({STEP: next(steps)}):
                return operation(*given, **attrs)

        return called

    return {name: of(operation) for name, operation in OPERATIONS.items()}


class _Homes(Storage):
    """The storages of buffers as arguments of the function: what lies in one is a view of it."""

    def __init__(self, case: Case, placed: Placed, arguments: dict[str, torch.Tensor]) -> None:
        """Begin with the arguments."""
        super().__init__(case, placed, self._viewed)
        self._given = arguments
        self._bases: dict[int, tuple[Array, torch.Tensor]] = {}
        self._sources = set(case.program.buffers.values())
        self._inputs = dict(placed)

    def input(self, name: str) -> torch.Tensor:
        """Return an input, which is given itself or lies in the storage that is."""
        if name not in self._sources:
            return self._given[name]
        ((storage, view),) = self._inputs[name]
        return _strided(self._given[name], storage, view)

    def perform(self, step: Any, taken: list[Any]) -> list[Any]:
        """Return the outputs of a step; a buffer begins as a copy of all of a storage."""
        if step.op != "buffer":
            return super().perform(step, taken)
        name, source = step.outputs[0], step.inputs[0]
        with framework():
            self._given[name].copy_(self._given[source])
        made = placed_operand(self._case.inputs[source])
        self._bases[id(_root(made[0][0]))] = made[0][0], self._given[name]
        self._placed[name] = made
        return [self._named(name, made[0][1])]

    def _viewed(self, array: Array) -> torch.Tensor:
        """Return the view of an argument that an array is of the storage of a buffer."""
        storage, base = self._bases[id(_root(array))]
        return _strided(base, storage, array)


def _root(array: Array) -> Array:
    """Return the array that owns the memory of a view."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _strided(base: torch.Tensor, storage: Array, view: Array) -> torch.Tensor:
    """Return the view of a storage that NumPy has; of all of it, one that says so."""
    with framework():
        if view.size == storage.size and view.flags.c_contiguous:
            return base.view(view.shape)
        strides = [stride // view.itemsize for stride in view.strides]
        return base.as_strided(view.shape, strides, _origin(storage, view))


def _origin(storage: Array, view: Array) -> int:
    """Return the element of a storage at which a view begins."""
    first = view.__array_interface__["data"][0] - storage.__array_interface__["data"][0]
    return int(first // view.itemsize) if view.size else 0
