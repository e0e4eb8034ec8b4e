"""The native implementation: graph, lowering, scheduling, code generation and a runtime over OpenCL devices.

Here: the backend, and a folder for each stage of the engine: ``graph``, ``fuse``, ``lower``, ``schedule``, ``render``
and ``runtime``.
Not here: how a case on logical tensors becomes a graph over devices (``backends.lowering``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import structs

from conformance.backends.base import Backend, Claims, Held, Types, Unsupported
from conformance.backends.case_arrays import Placed, place_inputs, placed_operand, tensors, touched
from conformance.backends.exceptions import rank_error
from conformance.backends.explanation import Explanation
from conformance.backends.lowering.lowered_cases import LoweredCases
from conformance.backends.opencl.dry_run import dry_rounds, dry_run, of_known_sizes
from conformance.backends.opencl.export.explanation import explained_program, explained_round
from conformance.backends.opencl.export.graph import as_case, exported_graph
from conformance.backends.opencl.export.lasting import lasting
from conformance.backends.opencl.export.schedule import exported
from conformance.backends.opencl.export.symbolic import symbolic
from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.attributes import WANTED
from conformance.backends.opencl.graph.meetings import TOGETHER
from conformance.backends.opencl.render.kernels import WIDE
from conformance.backends.opencl.runtime import NoPlatformError
from conformance.backends.opencl.settings import Settings, from_environment, guarantees, other_communication
from conformance.backends.opencl.typed.graph_cache import GraphCache
from conformance.backends.opencl.typed.lowering import STEPS
from conformance.backends.opencl.typed.lowering import lowered as lowered_steps
from conformance.backends.opencl.typed.typed_graphs import batched, pullback, pushforward, types_and_values
from conformance.cases.case import Case
from conformance.cases.declarations.guarantees import Guarantee
from conformance.cases.graph.buffer import Device
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.graph import Graph
from conformance.cases.observation import Observation
from conformance.cases.program.computing import ALL_WORDS
from conformance.cases.program.effect_words import CAPABILITIES
from conformance.cases.program.program import Program
from conformance.cases.program.rank_faults import WORDS
from conformance.cases.schedule.schedule import Schedule
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import Tensor
from conformance.cases.types.lowered import Lowered
from conformance.cases.types.typed_case import Level
from conformance.cases.types.typed_program import TypedProgram

if TYPE_CHECKING:
    from conformance.backends.opencl.runtime.engine import Engine
    from conformance.backends.opencl.runtime.rounds import Graphs
    from conformance.backends.opencl.runtime.session import Session
    from conformance.backends.opencl.runtime.value import DeviceValue

PROCESS: Final = ("platform", "devices", "queues")
"""The settings that the description of the platform answers: what was asked may not be what there is."""

LARGEST: Final = WIDE
"""The most ranks a world may have: a kernel reads so many storages, one for each rank."""


class OpenCL(Backend):
    """Runs whole programs on the devices of one OpenCL platform, each rank on its own device where there are enough."""

    name = "opencl"
    system = "opencl"

    def __init__(self, settings: Settings | None = None) -> None:
        """Take ``settings``, else what the environment asks for; devices are opened when first needed."""
        self.settings = from_environment() if settings is None else settings

    @property
    def claims(self) -> Claims:
        """Return every operation, with every dtype of ``formats`` in worlds of 1 to 64, every effect, and every graph.

        Ranks may run different steps, but none is late and none dies. What a rank enqueues would have to wait for a
        user event, which its timer completes, or fails. PoCL 3.0 does not hold commands for one on its basic devices:
        a read behind a user event returned after 0.5 ms, with what was there before, and the event never came (on
        the pthread device the same read waited its 0.2 s).
        """
        limits = {"dtype": tuple(FORMATS), "world": tuple(str(world) for world in range(1, LARGEST + 1))}
        limits["effects"] = CAPABILITIES
        limits["computes"], limits["computed"] = ALL_WORDS, tuple(FORMATS)
        found = {name: limits | ({} if name in TOGETHER else {"faults": WORDS[:3]}) for name in sorted(WANTED)}
        typed = ("typed_program", "transposed_program", "batched_program", "pushed_program")
        graphs = {"graph": {"dtype": tuple(FORMATS)}, "sharded": {"dtype": tuple(FORMATS)}}
        # A mean is one collective of a graph, and no collective is started there.
        shown = {"steps": STEPS, "starts": ["none"], "op": ["sum", "max", "min"]}
        whole = (*typed, "schedule_of_graph", "schedule_of_program")
        return found | graphs | {op: {} for op in whole} | {"lowered_program": shown}

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """Return what the algorithms that the settings can choose guarantee."""
        return guarantees(self.settings)

    @cached_property
    def session(self) -> Session:
        """The open devices; raise ``NoPlatformError`` when there are none."""
        try:
            from conformance.backends.opencl.runtime.session import Session
        except ImportError as error:
            message = f"the opencl backend needs pyopencl: pip install 'mesh-conformance[opencl]' ({error})"
            raise NoPlatformError(message) from error
        return Session(self.settings)

    def close(self) -> None:
        """Let queues that are held run to their ends, so that the devices can be released."""
        session = self.__dict__.get("session")
        if session is not None and session.platform.gates is not None:
            session.platform.gates.open()

    @cached_property
    def engine(self) -> Engine:
        """What runs programs on the open devices, with the settings of this backend."""
        from conformance.backends.opencl.runtime.engine import Engine

        return Engine(self.session, self.settings)

    @cached_property
    def graphs(self) -> Graphs:
        """What runs graphs on the open devices."""
        from conformance.backends.opencl.runtime.rounds import Graphs

        return Graphs(self.engine)

    @cached_property
    def _sharded(self) -> LoweredCases:
        """What sharded cases were lowered to."""
        return LoweredCases()

    @cached_property
    def _typed(self) -> GraphCache:
        """What typed programs were made graphs of."""
        return GraphCache(self.graphs)

    @property
    def alignment(self) -> int:
        """The bytes at whose multiples a sub-buffer may begin on every open device."""
        return self.session.platform.alignment

    @property
    def _told(self) -> Device:
        """What a schedule says of every device."""
        return Device(alignment=self.alignment, most_buffers=self.session.platform.most_buffers)

    def describe(self) -> dict[str, str]:
        """Return platform, driver, devices, versions and the settings that choose algorithms.

        Which devices it is the platform says: a process has those that its first settings asked for.
        """
        asked = {name: value for name, value in asdict(self.settings).items() if name not in PROCESS}
        chosen = {f"settings {name}": str(value) for name, value in asked.items()}
        return {**self.session.platform.description, **chosen}

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Return the schedule of the program of a case, or of a graph, in neutral form, with bodies.

        Raise a ``RejectionError`` for an illegal program, ``Refused`` for a graph that has no meaning, and
        ``Unsupported`` for a program outside the claims.
        """
        return self._scheduled(asked, self.settings if planned else replace(self.settings, reuse=False))

    def reschedule(
        self, asked: Case | Graph, *, iteration: int = 0, switched: bool = False, costs: int | None = None
    ) -> Schedule:
        """Return the schedule in another circumstance; raise as ``schedule`` does.

        A plan keeps its communication buffers, so they are the same in every ``iteration``. One host schedules all
        ranks, with estimates drawn from ``costs`` for each thing that each of them does.
        """
        changed = other_communication(self.settings) if switched else self.settings
        return self._scheduled(asked, changed if costs is None else replace(changed, estimates=costs))

    def _scheduled(self, asked: Case | Graph, settings: Settings) -> Schedule:
        if isinstance(asked, Graph):
            values = {name: each.value for name, each in asked.variables.items()}
            return symbolic(self._numeric(asked, values, settings), values, lambda v: self._numeric(asked, v, settings))
        self._check(asked.program)
        made, lowered = dry_run(asked, settings, self.alignment)
        forms = [
            (each.layouts, [(block.dtype, block.shape) for block in each.blocks]) for each in asked.inputs.values()
        ]
        named = lasting(asked.program, forms, settings)
        return exported(made, lowered, asked.program.world, self._told, settings, named)

    def _numeric(self, graph: Graph, values: Mapping[str, int], settings: Settings) -> Schedule:
        """Return the schedule of a graph, whose variables have these values, in numbers."""
        once = as_case(graph)
        (part,) = once.rounds
        case = structs.replace(once, rounds=(structs.replace(part, values=dict(values)),))
        (only,) = dry_rounds(case, settings, self.alignment)
        settings = of_known_sizes(graph, settings)
        return exported_graph(only, case, self._told, settings, lasting(graph, settings))

    def remaining(self, asked: Case | Graph) -> Schedule:
        """Return what a graph leaves to do when its results are asked for in a second round of one case.

        The rounds of a case are scheduled before the first of them runs, from what the earlier ones keep, so that
        nothing has to run for it. Raise ``Unsupported`` for a program, whose results are fresh whenever it is started.
        """
        if not isinstance(asked, Graph):
            raise Unsupported("a program that is started again gives fresh results")
        once = as_case(asked)
        twice = structs.replace(once, rounds=once.rounds * 2)
        *_, last = dry_rounds(twice, self.settings, self.alignment)
        return exported_graph(last, twice, self._told, self.settings, lasting(asked, "again", self.settings))

    def explain(self, case: Case | GraphCase) -> tuple[Explanation, ...]:
        """Return what becomes of a program, or of each round of a graph."""
        if isinstance(case, GraphCase):
            made = dry_rounds(case, self.settings, self.alignment)
            return tuple(explained_round(number, each) for number, each in enumerate(made))
        self._check(case.program)
        return (explained_program(*dry_run(case, self.settings, self.alignment), case.program.world),)

    def execute(self, case: Case) -> Observation:
        """Run the program of ``case`` and return what happened; never raise."""
        start = time.perf_counter()
        placed = place_inputs(case)
        try:
            results = self._run(case, placed)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong is the observation
            return Observation(
                errors=(rank_error(error),) * case.program.world,
                touched=touched(case, placed),
                seconds=time.perf_counter() - start,
            )
        seconds = time.perf_counter() - start
        return Observation(results=results, touched=touched(case, placed), seconds=seconds)

    def graph(self, case: GraphCase) -> Observation:
        """Run a graph in its rounds and return what was asked for and read; never raise."""
        start = time.perf_counter()
        try:
            results: dict[str, tuple[Tensor | None, ...]] = {
                name: (tensor,) for name, tensor in self.graphs.run(case).items()
            }
        except Exception as error:  # noqa: BLE001 - whatever goes wrong is the observation
            return Observation(errors=(rank_error(error),), seconds=time.perf_counter() - start)
        return Observation(results=results, seconds=time.perf_counter() - start)

    def anticipate(self, calls: Sequence[Callable[[], object]]) -> None:
        """Build the kernels of graphs that are asked for next in one program."""
        self.graphs.gather(calls)

    def run_sharded(self, case: ShardedCase) -> Mapping[str, Held]:
        """Run a program on sharded tensors as one graph over its devices, and return what each has in the end."""
        whole, answers = self._sharded.lowered(case)
        # What has been lowered of a case that was checked is well formed.
        given = self.graphs.arrays(whole, checked=False)
        return {
            key: Held(
                answer.layout,
                [None if part is None else given[part] for part in answer.keys],
                answer.moved,
                answer.size,
                # A part is given when its kernels are done.
                realized=all(part is None or part in given for part in answer.keys),
            )
            for key, answer in answers.items()
        }

    def typed(self, program: TypedProgram, inputs: Mapping[str, list[Array]]) -> tuple[Types, dict[str, list[Array]]]:
        """Return the types that the engine's own rules give, and the values of a graph."""
        return types_and_values(program, inputs, self._typed)

    def lowered(self, program: TypedProgram) -> list[Lowered]:
        """Return the collectives of a program's graph."""
        return lowered_steps(program)

    def pushforward(
        self, program: TypedProgram, inputs: Mapping[str, list[Array]], tangents: Mapping[str, list[Array]]
    ) -> dict[str, list[Array]]:
        """Return the tangents of results, by a graph that has both values and tangents."""
        return pushforward(program, inputs, tangents, self._typed)

    def pullback(
        self, program: TypedProgram, inputs: Mapping[str, list[Array]], cotangents: Mapping[str, list[Array]]
    ) -> dict[str, list[Array]]:
        """Return the cotangents of inputs, by a graph that goes back through the steps."""
        return pullback(program, inputs, cotangents, self._typed)

    def batched(
        self, program: TypedProgram, levels: Sequence[Level], inputs: Mapping[str, list[Array]]
    ) -> dict[str, list[Array]]:
        """Return the results of a graph in which every slice that meets others has a device of its own."""
        return batched(program, levels, inputs, self._typed, LARGEST)

    def _run(self, case: Case, placed: Placed) -> dict[str, tuple[Tensor | None, ...]]:
        """Start the program on the devices and read its results; inputs and buffers come back as they are then.

        What is refused is refused before anything is launched, so that there are no buffers that could have changed.
        """
        if case.faults:
            raise Unsupported("all ranks run in this process: none of them is late or dies")
        engine = self.engine
        inputs = self._put(case.program, placed)
        started = engine.start(case.program, inputs)
        found = tensors({name: engine.read(value) for name, value in started.done().items()})
        for name, value in started.buffers.items():
            placed[name] = placed_operand(case.inputs[case.program.buffers[name]])
            engine.download(value, [storage.view(np.uint8) for storage, _ in placed[name]])
        for name, value in inputs.items():
            engine.download(value, [storage.view(np.uint8) for storage, _ in placed[name]])
        return found

    def _put(self, program: Program, placed: Placed) -> dict[str, DeviceValue]:
        self._check(program)
        return {name: self.engine.put(ranks) for name, ranks in placed.items()}

    def _check(self, program: Program) -> None:
        if program.world > LARGEST:
            raise Unsupported(f"a world of {program.world} is outside the claims: 1 to {LARGEST} ranks")
