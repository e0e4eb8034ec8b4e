"""tinygrad under test: multi-device tensors in one process, a device a rank.

Three backends for the three algorithms that tinygrad lowers a reduction over a sharded axis to. None imports
tinygrad before it is constructed.

Cases are not asked about in company: each kernel is a run of the C compiler, whoever it is for. Graphs took 399 ms of
processor time each alone and 412 where ten were realized at once (tinygrad 0.14.0, clang, each in a fresh process).
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from typing import Any, ClassVar, Final

from msgspec.structs import replace
from packaging.version import Version

from conformance.backends.base import Backend, Claims, Held, Unsupported
from conformance.backends.tinygrad.claims import claims
from conformance.backends.tinygrad.device import compiled, start, with_compiler
from conformance.cases.case import Case
from conformance.cases.declarations.number_model import Declared
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.graph import Graph
from conformance.cases.observation import Observation
from conformance.cases.program.program import Groups
from conformance.cases.schedule.schedule import Schedule
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.typed_program import TypedProgram

KERNELS: Final = Version("0.14.0")
"""The first release whose kernels are read: 0.13.0 has other nodes for devices, variables, stacks and bare numbers."""


def reads_schedules() -> bool:
    """Return whether the schedules of the tinygrad that is installed are read."""
    return Version(version("tinygrad")) >= KERNELS


class TinyGrad(Backend):
    """Every device copies all shards and folds them; raise ``ImportError`` when tinygrad is not installed."""

    name = "tinygrad"
    system = "tinygrad"
    adapts = True
    algorithm: ClassVar[str] = "naive"

    def __init__(self) -> None:
        """Import tinygrad on the device that the environment names, or on one that works here."""
        self._device, self._world, self._note = start()
        self._without = () if compiled(self._device) else ("bfloat16",)
        self._carry: Any = import_module("conformance.backends.tinygrad.collectives")

    @property
    def device(self) -> str:
        """Return tinygrad's name of the kind of devices that the ranks are on."""
        return self._device

    @property
    def number_model(self) -> Declared:
        """Return what it was seen to choose in the suite ``numerics``, by ``all_reduce``; its source says some of it.

        ``sum`` and ``mean`` are in ``sum_acc_dtype``, which is float32, and float16 is cast back before it is sent.
        ``prod`` stays in its dtype, whose multiplications compilers and interpreters do in a wider one.
        """
        narrow = {"sum": "float32", "mean": "float32", "product": "float16"}
        return {
            "overflow": {"float8_e4m3fn": "saturated", "float8_e5m2": "saturated"},
            "accumulate": {"float16": "float32", "float8_e4m3fn": narrow, "float8_e5m2": narrow},
            "between": {"float16": "own", "float8_e4m3fn": {"product": "own"}, "float8_e5m2": {"product": "own"}},
            "subnormals": {"float16": "flushed", "float8_e4m3fn": "flushed", "float8_e5m2": "flushed"},
            "mean": "reciprocal",
        }

    @property
    def follows(self) -> tuple[str, ...]:
        """Return the source whose documented divergences are tinygrad's."""
        return ("tinygrad",)

    @property
    def claims(self) -> Claims:
        """Return what the documentation of tinygrad supports, for worlds that have a device for each rank."""
        worlds = [str(world) for world in range(1, self._world + 1)]
        graphs: Claims = import_module("conformance.backends.tinygrad.graph_values").CLAIMS
        placed: Claims = import_module("conformance.backends.tinygrad.sharded_tensors").CLAIMS
        typed: Claims = import_module("conformance.backends.tinygrad.gradients").CLAIMS
        own = {**claims(self._without), **placed, **typed}
        of_worlds = {op: {**limits, "world": worlds} for op, limits in own.items()}
        found: Claims = {**of_worlds, **graphs} if self.algorithm == "naive" else of_worlds
        narrowed = {
            op: {**limits, "dtype": tuple(name for name in limits["dtype"] if name not in self._without)}
            for op, limits in found.items()
        }
        return narrowed | ({"schedule_of_graph": {}} if reads_schedules() else {})

    def describe(self) -> dict[str, str]:
        """Return the version, the device with how it came to be chosen, and the algorithm."""
        return {
            "tinygrad": version("tinygrad"),
            "device": self._device,
            "devices": str(self._world),
            "chosen": self._note,
            "without": ", ".join(self._without) or "nothing",
            "all-reduce": self.algorithm,
            **({} if reads_schedules() else {"schedules": f"not read; its kernels are those of before {KERNELS}"}),
        }

    def execute(self, case: Case) -> Observation:
        """Run one case; tinygrad raises ``RuntimeError`` for arguments that it refuses, and has no class for others."""
        return _refused(super().execute(case))

    def graph(self, case: GraphCase) -> Observation:
        """Run a graph case; it refuses as one case is refused."""
        return _refused(super().graph(case))

    def sharded(self, case: ShardedCase) -> Observation:
        """Run a program on sharded tensors; it refuses as one case is refused."""
        return _refused(super().sharded(case))

    def all_reduce(
        self,
        blocks: list[Array],
        *,
        op: str,
        factor: float = 1.0,
        local_axes: tuple[int, ...] = (),
        groups: Groups,
    ) -> list[Array]:
        """Reduce a tensor that is split over its first axis along that axis, and local ones behind it."""
        return self._each(self._carry.all_reduce, blocks, groups, op=op, local_axes=local_axes)

    def arg_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        """Return where along the axis that is split over the ranks the extreme is."""
        return self._each(self._carry.arg_reduce, blocks, groups, op=op)

    def all_gather(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        """Copy a tensor that is split along ``axis`` to all its devices."""
        return self._each(self._carry.all_gather, blocks, groups, axis=axis, tiled=tiled)

    def gather(self, blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> list[Array | None]:
        """Move a tensor that is split along ``axis`` to the device of the root."""
        found: list[Array | None] = self._each(self._carry.gather, blocks, groups, root=root, axis=axis, tiled=tiled)
        return found

    def scatter(self, blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        """Split the tensor on the root's device along ``axis``; ``tiled``, for a shard keeps the axis."""
        return self._each(self._carry.scatter, blocks, groups, root=root, axis=axis, tiled=tiled)

    def broadcast(self, blocks: list[Array], *, root: int, groups: Groups) -> list[Array]:
        """Copy the tensor on the root's device to all devices."""
        return self._each(self._carry.broadcast, blocks, groups, root=root)

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Return the schedule that tinygrad makes of a graph; raise ``Unsupported`` where it has no words for it."""
        return self._linear(asked, "schedule", planned=planned, algorithm=self.algorithm)

    def remaining(self, asked: Case | Graph) -> Schedule:
        """Return what tinygrad schedules for the tensors of a graph that it has realized once."""
        return self._linear(asked, "remaining")

    def run_graph(self, case: GraphCase) -> Mapping[str, Array]:
        """Build lazy tensors, and realize what each round asks for."""
        with with_compiler():
            values = import_module("conformance.backends.tinygrad.graph_values")
            found: Mapping[str, Array] = values.run(case, self._device)
        return found

    def run_sharded(self, case: ShardedCase) -> Mapping[str, Held]:
        """Shard tensors, build lazy ones of them, and realize what each round asks for."""
        with with_compiler(), self._carry.lowered(self.algorithm):
            found: Mapping[str, Held] = import_module("conformance.backends.tinygrad.sharded_tensors").run(
                case, self._device
            )
        return found

    def pullback(
        self, program: TypedProgram, inputs: Mapping[str, list[Array]], cotangents: Mapping[str, list[Array]]
    ) -> dict[str, list[Array]]:
        """Return the gradients of the inputs, through tensors that are split over devices."""
        devices = tuple(f"{self._device}:{rank}" for rank in range(program.world))
        with with_compiler(), self._carry.lowered(self.algorithm):
            found: dict[str, list[Array]] = import_module("conformance.backends.tinygrad.gradients").pullback(
                program, devices, inputs, cotangents
            )
        return found

    def _linear(self, asked: Case | Graph, what: str, **how: bool | str) -> Schedule:
        if isinstance(asked, Case):
            raise Unsupported("tinygrad schedules graphs; a program of several ranks is many of them")
        made: Schedule
        with with_compiler(), self._carry.lowered(self.algorithm):
            made = getattr(import_module("conformance.backends.tinygrad.linear_schedule"), what)(
                asked, self._device, **how
            )
        return made

    def _each(self, carry: Any, blocks: list[Array], groups: Groups, **attrs: Any) -> list[Any]:
        """Return what ``carry`` makes of the blocks of each group, on the devices of its members."""
        out: list[Any] = [None] * len(blocks)
        for group in groups:
            devices = tuple(f"{self._device}:{rank}" for rank in group)
            with with_compiler(), self._carry.lowered(self.algorithm):
                results = carry([blocks[rank] for rank in group], devices, **attrs)
            for rank, result in zip(group, results, strict=True):
                out[rank] = result
        return out


class TinyGradRing(TinyGrad):
    """Chunks go round in a ring, twice."""

    name = "tinygrad-ring"
    algorithm: ClassVar[str] = "ring"


class TinyGradAllToAll(TinyGrad):
    """Every device folds one chunk of all shards, and sends it to all."""

    name = "tinygrad-all2all"
    algorithm: ClassVar[str] = "all-to-all"


def _refused(seen: Observation) -> Observation:
    """Return what happened, with each ``RuntimeError`` as the refusal of an argument."""
    errors = tuple(
        error
        if error is None or (error.kind, error.category) != ("RuntimeError", "internal")
        else replace(error, category="invalid_argument")
        for error in seen.errors
    )
    return replace(seen, errors=errors)
