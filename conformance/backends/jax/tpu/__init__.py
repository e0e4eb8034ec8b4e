"""XLA's compiler for TPUs under judgement, on a machine without one: compiled, and evaluated by NumPy.

``libtpu`` compiles for a topology that is described and not there. What it makes, scheduled HLO with collectives that
are started and ended, copies into other memories and asynchronous fusions, is read; ``pairs`` says whether it is
consistent, and ``evaluate`` what it means. So what is judged is what the compiler makes of a program, not what a chip
computes of it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
import numpy as np

from conformance.backends.base import Backend, Claims, Types, Unsupported
from conformance.backends.case_arrays import place_inputs, tensors, touched
from conformance.backends.exceptions import rank_error
from conformance.backends.jax import effectful
from conformance.backends.jax.devices import start
from conformance.backends.jax.tpu.claims import NUMBERS, claims
from conformance.backends.jax.tpu.topology import chosen
from conformance.backends.jax.tpu.topology import start as start_compiler
from conformance.cases.case import Case
from conformance.cases.declarations.number_model import Declared
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.graph import Graph
from conformance.cases.observation import Observation, RankError
from conformance.cases.schedule.schedule import Schedule
from conformance.cases.tensor.dtypes import NUMPY

if TYPE_CHECKING:
    from conformance.backends.jax.hlo.module import Module
    from conformance.backends.jax.typed_programs import Jitted
    from conformance.cases.program.program import Program
    from conformance.cases.tensor.dtypes import Array
    from conformance.cases.types.lowered import Lowered
    from conformance.cases.types.typed_program import TypedProgram


class TpuSchedule(Backend):
    """Compiles every program as a whole for the first devices of a topology."""

    name = "jax-tpu-schedule"
    system = "jax"
    adapts = True
    case_limit: ClassVar = 300.0
    """A compilation takes 0.3 s, at times 8, and a division of int64 42 s of a processor (libtpu 0.0.42.1)."""

    def __init__(self) -> None:
        """Start the compiler; raise ``ImportError`` where it cannot be."""
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        start()
        self._devices = start_compiler()
        self._known: dict[bytes, Module | RankError] = {}
        self._functions: dict[bytes, tuple[Jitted, Module]] = {}
        self._fresh = 0
        """Programs compiled since the last were dropped."""

    @cached_property
    def claims(self) -> Claims:
        """Return what JAX documents for TPUs."""
        graphs: Claims = import_module("conformance.backends.jax.tpu.graphs").CLAIMS
        # Schedules are judged by the eager graph, which knows no documented divergence: that of JAX's means of integers
        # is one, and so is the order of a permute over several axes. ``TpuLoop`` has the values of both.
        programs = claims(len(self._devices))
        reductions = [op for op in programs["all_reduce"]["op"] if op != "mean"]
        one = {op: {**programs[op], "axes": ["one", "invalid"]} for op in ("permute", "shuffle")}
        scheduled: Claims = {"schedule_of_graph": {}, "schedule_of_program": {}}
        return {**programs, "all_reduce": {**programs["all_reduce"], "op": reductions}, **one, **graphs, **scheduled}

    @property
    def follows(self) -> tuple[str, ...]:
        """Return the source whose documented divergences are this framework's."""
        return ("jax",)

    @property
    def number_model(self) -> Declared:
        """Return what the compiler chooses about numbers."""
        return NUMBERS

    def describe(self) -> dict[str, str]:
        """Return versions and the topology."""
        return {
            "jax": version("jax"),
            "jaxlib": version("jaxlib"),
            "libtpu": version("libtpu"),
            "topology": chosen(),
            "mode": "compiled for a topology that is not there; NumPy evaluates the HLO",
        }

    def execute(self, case: Case) -> Observation:
        """Compile the program and evaluate what was compiled."""
        if effectful(case.program) or case.troubled:
            raise Unsupported("a program is compiled as one function")
        began = time.perf_counter()
        placed = place_inputs(case)
        inputs = {name: [view for _, view in ranks] for name, ranks in placed.items()}
        results: dict[str, Any] = {}
        error = None
        try:
            made = self._compiled(case, inputs)
            if isinstance(made, RankError):
                error = made
            else:
                results = tensors(self._evaluated(made, case.program, inputs))
        except Exception as raised:  # noqa: BLE001 - whatever JAX raises is the observation
            error = rank_error(raised, adapts=self.adapts)
        errors = (error,) * case.program.world if error else ()
        seconds = time.perf_counter() - began
        return Observation(
            results=results, errors=errors, touched=touched(case, placed, inside=error is not None), seconds=seconds
        )

    def run_graph(self, case: GraphCase) -> Mapping[str, Array]:
        """Compile each round of a graph for as many chips as it has devices, and evaluate what was compiled."""
        self._make_room()
        found: Mapping[str, Array] = import_module("conformance.backends.jax.tpu.graphs").run(case, self._devices)
        return found

    def types(self, program: TypedProgram) -> Types:
        """Return the types of the avals, which needs no compilation."""
        from conformance.backends.jax.tpu import typed
        from conformance.backends.jax.typed_programs import types

        typed.enough(program, self._devices)
        return types(program, self._devices)

    def typed(self, program: TypedProgram, inputs: Mapping[str, list[Array]]) -> tuple[Types, dict[str, list[Array]]]:
        """Return the types of the avals, and the values of what was compiled."""
        from conformance.backends.jax.typed_programs import values

        made, found = self._typed("values", program, values, inputs)
        return {step.output: made.types[step.output] for step in program.steps}, found

    def pushforward(
        self, program: TypedProgram, inputs: Mapping[str, list[Array]], tangents: Mapping[str, list[Array]]
    ) -> dict[str, list[Array]]:
        """Return the tangents of results by ``jax.jvp``, compiled and evaluated."""
        from conformance.backends.jax.typed_programs import pushforward

        given = {**inputs, **{f"d {name}": blocks for name, blocks in tangents.items()}}
        return self._typed("tangents", program, pushforward, given)[1]

    def pullback(
        self, program: TypedProgram, inputs: Mapping[str, list[Array]], cotangents: Mapping[str, list[Array]]
    ) -> dict[str, list[Array]]:
        """Return the cotangents of inputs by ``jax.vjp``, compiled and evaluated."""
        from conformance.backends.jax.typed_programs import pullback

        names = tuple(cotangents)
        given = {**inputs, **{f"ct {name}": blocks for name, blocks in cotangents.items()}}
        return self._typed(f"cotangents {names}", program, lambda of, on: pullback(of, on, names), given)[1]

    def compiled(self, program: TypedProgram) -> list[Lowered]:
        """Return the collectives of the HLO that XLA compiles for TPUs."""
        from conformance.backends.jax.tpu import facts, typed
        from conformance.backends.jax.typed_programs import values

        self._make_room()
        typed.enough(program, self._devices)
        given = {
            name: [np.zeros(each.shape, NUMPY[each.dtype])] * program.world for name, each in program.inputs.items()
        }
        return facts.read(typed.compiled(values(program, self._devices), given, self._devices), program.world)

    def _typed(
        self,
        what: str,
        program: TypedProgram,
        make: Callable[[TypedProgram, list[Any]], Jitted],
        given: Mapping[str, list[Array]],
    ) -> tuple[Jitted, dict[str, list[Array]]]:
        """Return a function of a typed program, and what it gives of ``given`` as it was compiled."""
        from conformance.backends.jax.tpu import typed

        typed.enough(program, self._devices)
        kinds = {name: (blocks[0].dtype.str, blocks[0].shape) for name, blocks in given.items()}
        key = msgspec.json.encode((what, program, kinds))
        if key not in self._functions:
            self._make_room()
            made = make(program, self._devices)
            self._functions[key] = made, typed.compiled(made, given, self._devices)
        made, module = self._functions[key]
        return made, typed.run(module, made, given)

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Return the schedule of what was compiled; raise ``Unsupported`` for what it cannot be read of.

        Raise what JAX raises of a program that it refuses.
        """
        if not planned:
            raise Unsupported("XLA always plans where values lie")
        if isinstance(asked, Graph):
            self._make_room()
            graphs = import_module("conformance.backends.jax.tpu.graph_schedule")
            of_graph: Schedule = graphs.graph_schedule(asked, self._devices)
            return of_graph
        neutral = import_module("conformance.backends.jax.tpu.neutral")
        if effectful(asked.program) or asked.troubled:
            raise Unsupported("a program is compiled as one function")
        inputs = {name: [view for _, view in ranks] for name, ranks in place_inputs(asked).items()}
        made = self._compiled(asked, inputs)
        if isinstance(made, RankError):
            raise Unsupported(f"JAX refuses it: {made.message}")
        found: Schedule = neutral.program_schedule(asked, made)
        return found

    def _compiled(self, case: Case, inputs: Mapping[str, list[Array]]) -> Module | RankError:
        kinds = {name: sorted({(block.shape, block.dtype) for block in x.blocks}) for name, x in case.inputs.items()}
        for name, found in kinds.items():
            if len(found) != 1:
                raise Unsupported(f"{name}: JAX gives every rank a block of one shape and dtype, got {found}")
        key = msgspec.json.encode((case.program, kinds))
        if key not in self._known:
            self._make_room()
            from conformance.backends.jax.tpu import ranks

            try:
                self._known[key] = ranks.compiled(case.program, inputs, self._devices, self._form(case.program, inputs))
            except Exception as refusal:  # noqa: BLE001 - as data, for the exception would keep all that was traced
                self._known[key] = rank_error(refusal, adapts=self.adapts)
        return self._known[key]

    def _form(self, program: Program, inputs: Mapping[str, list[Array]]) -> str:
        """Return the form of the loop that a program is the body of: here of none."""
        del program, inputs
        return ""

    def _evaluated(self, made: Module, program: Program, inputs: Mapping[str, list[Array]]) -> dict[str, list[Array]]:
        from conformance.backends.jax.tpu import ranks

        return ranks.run(made, program, inputs, self._form(program, inputs))

    def _make_room(self) -> None:
        """Drop what was compiled, and what JAX remembers, before that is more than 64 programs."""
        self._fresh += 1
        if self._fresh > 64:
            self.close()

    def close(self) -> None:
        """Drop what was compiled."""
        import jax

        self._fresh = 0
        self._known.clear()
        self._functions.clear()
        jax.clear_caches()


class TpuLoop(TpuSchedule):
    """Compiles the programs of the collectives each as the body of a loop of fixed count (``loops``)."""

    name = "jax-tpu-loop"

    @cached_property
    def claims(self) -> Claims:
        """Return what JAX documents of collectives for TPUs, which it has in loops too."""
        return claims(len(self._devices), typed=False)

    def describe(self) -> dict[str, str]:
        """Return versions and the topology."""
        return {**super().describe(), "loop": "each program is the body of one, of a fixed count"}

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Raise ``Unsupported``: the inputs of a loop are longer than those of the program."""
        del asked, planned
        raise Unsupported("a schedule is read of a program that is in no loop")

    def _form(self, program: Program, inputs: Mapping[str, list[Array]]) -> str:
        """Return the form of the loop of a program."""
        return str(import_module("conformance.backends.jax.tpu.loops").form_of(program, inputs))
