"""StableHLO under test: the reference interpreter of the standard, which jaxlib carries.

A program is one function that every process runs, in a module whose ``main`` runs the processes in parallel. They are
replicas, whose communication "doesn't need channels", or partitions, and then each collective has a channel of its own.
What the text of StableHLO says is in its ``docs/spec.md``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, ClassVar, Final

import msgspec

from conformance.backends.attribution import framework
from conformance.backends.base import Backend, Claims, Unsupported
from conformance.backends.case_arrays import place_inputs, tensors, touched
from conformance.backends.companies import graph_observation
from conformance.backends.exceptions import rank_error
from conformance.backends.stablehlo.claims import claims
from conformance.backends.stablehlo.module import Module, Types, module
from conformance.cases.case import Case
from conformance.cases.graph.case import GraphCase
from conformance.cases.observation import Observation, RankError

if TYPE_CHECKING:
    from conformance.backends.case_arrays import Placed
    from conformance.cases.tensor.dtypes import Array


Written = tuple[Module, "list[Array]"]
"""A module, and the blocks that it takes."""

TOGETHER: Final = 64
"""Cases of which one module is made."""


class StableHlo(Backend):
    """Interprets every program as a whole; raise ``ImportError`` when jaxlib is not installed."""

    name = "stablehlo"
    system = "stablehlo"
    channels: ClassVar = False
    adapts: ClassVar[bool] = True

    def __init__(self) -> None:
        """Make a context that knows StableHLO and the operations of its interpreter."""
        from conformance.backends.stablehlo.interpreter import Interpreter

        self._interpreter = Interpreter()
        self._threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

    @property
    def claims(self) -> Claims:
        """Return what the text of StableHLO has, for as many processes as the interpreter runs at a time.

        It has a thread for each processor. Further processes wait for one, and those that wait for them end the
        program after three seconds: "LLVM ERROR: rendezvous timed out" (jaxlib 0.10.2).
        """
        worlds = [str(world) for world in range(1, self._threads + 1)]
        graphs: Claims = {} if self.channels else import_module("conformance.backends.stablehlo.graphs").CLAIMS
        return {**{op: {**limits, "world": worlds} for op, limits in claims().items()}, **graphs}

    def graph(self, case: GraphCase) -> Observation:
        """Run a graph; the verifier refuses as it does of a program."""
        seen = super().graph(case)
        errors = tuple(error and _refused_by_verifier(error) for error in seen.errors)
        return msgspec.structs.replace(seen, errors=errors)

    def run_graph(self, case: GraphCase) -> Mapping[str, Array]:
        """Write all rounds of a graph down as one function, and evaluate it."""
        program, given, names = import_module("conformance.backends.stablehlo.graphs").traced(case)
        with framework():
            found = self._interpreter.evaluate(program, given)
        return dict(zip(names, found, strict=True))

    @property
    def follows(self) -> tuple[str, ...]:
        """Return the source whose documented divergences are the interpreter's."""
        return ("stablehlo",)

    def describe(self) -> dict[str, str]:
        """Return the versions, and how many processes run at a time."""
        return {
            "jaxlib": version("jaxlib"),
            "stablehlo": self._interpreter.version,
            "processes": f"{self._kind}, at most {self._threads}, a thread each",
        }

    @property
    def _kind(self) -> str:
        return "partitions, a channel for each collective" if self.channels else "replicas, no channels"

    def execute(self, case: Case) -> Observation:
        """Write the program down as a module, evaluate it on the placed inputs and read every process's results."""
        began = time.perf_counter()
        placed = place_inputs(case)
        try:
            results = tensors(self._evaluated(case, placed))
        except Exception as raised:  # noqa: BLE001 - whatever the interpreter raises is the observation
            errors = (_refused_by_verifier(rank_error(raised, adapts=self.adapts)),) * case.program.world
            return Observation(errors=errors, touched=touched(case, placed), seconds=time.perf_counter() - began)
        return Observation(results=results, touched=touched(case, placed), seconds=time.perf_counter() - began)

    def _evaluated(self, case: Case, placed: Placed) -> dict[str, list[Array]]:
        """Return the blocks of every result, in rank order; raise whatever the interpreter raises."""
        if case.troubled:
            raise Unsupported("what happens where processes run different steps is to be decided in StableHLO's text")
        program, blocks = self._written(case, placed)
        with framework():
            read = self._interpreter.evaluate(program, blocks)
        return _results(case, read)

    def _written(self, case: Case, placed: Placed) -> Written:
        """Return a program as a module, and the blocks that it takes."""
        program = module(case.program, types_of(case), channels=self.channels)
        return program, [placed[name][rank][1] for rank in range(case.program.world) for name in program.inputs]

    @property
    def together(self) -> Mapping[str, int]:
        """Return as many as a module is made of; what is parsed at once matters little from there on."""
        return {"programs": TOGETHER} | ({} if self.channels else {"graphs": TOGETHER})

    def execute_together(self, cases: Sequence[Case]) -> Sequence[Observation]:
        """Write programs down as functions of one module, and evaluate that."""
        placed = [place_inputs(case) for case in cases]
        writes = [partial(self._written, case, each) for case, each in zip(cases, placed, strict=True)]
        found = self._together(writes)
        seen = []
        for case, held, read in zip(cases, placed, found, strict=True):
            touches = touched(case, held)
            if isinstance(read, RankError):
                seen.append(Observation(errors=(read,) * case.program.world, touched=touches))
            else:
                seen.append(Observation(results=tensors(_results(case, read)), touched=touches))
        return seen

    def graphs_together(self, cases: Sequence[GraphCase]) -> Sequence[Observation]:
        """Write graphs down as functions of one module, and evaluate that."""
        written = [import_module("conformance.backends.stablehlo.graphs").traced(case) for case in cases]
        found = self._together([partial(lambda one: one[:2], each) for each in written])
        return [
            graph_observation(read if isinstance(read, RankError) else dict(zip(names, read, strict=True)))
            for (_, _, names), read in zip(written, found, strict=True)
        ]

    def _together(self, writes: Sequence[Callable[[], Written]]) -> list[list[Array] | RankError]:
        """Return the results of several modules, or how one is refused before anything is evaluated."""
        made = [self._refusable(write) for write in writes]
        sound = [one for one in made if not isinstance(one, RankError)]
        try:
            with framework():
                found = self._interpreter.evaluated([one for one, _ in sound], [blocks for _, blocks in sound])
        except Exception as error:
            if _refused_by_verifier(rank_error(error, adapts=self.adapts)).category != "invalid_argument":
                raise
            made = [one if isinstance(one, RankError) else self._verified(one) for one in made]
            sound = [one for one in made if not isinstance(one, RankError)]
            with framework():
                found = self._interpreter.evaluated([one for one, _ in sound], [blocks for _, blocks in sound])
        left = iter(found)
        return [one if isinstance(one, RankError) else next(left) for one in made]

    def _verified(self, written: Written) -> Written | RankError:
        """Return what was written down, or how the verifier refuses it."""

        def verified() -> Written:
            with framework():
                self._interpreter.verify(written[0])
            return written

        return self._refusable(verified)

    def _refusable(self, write: Callable[[], Written]) -> Written | RankError:
        try:
            return write()
        except Exception as error:  # noqa: BLE001 - whatever it raises is how the case is refused
            return _refused_by_verifier(rank_error(error, adapts=self.adapts))


class StableHloChannels(StableHlo):
    """Gives each collective a channel, without which two of one group read what each other gathered (jaxlib 0.10.2)."""

    name = "stablehlo-channels"
    channels: ClassVar = True


def _results(case: Case, read: Sequence[Array]) -> dict[str, list[Array]]:
    """Return the blocks of every result in rank order, of those of every process in turn."""
    results: dict[str, list[Array]] = {name: [] for name in case.program.results}
    for at, block in enumerate(read):
        results[case.program.results[at % len(results)]].append(block)
    return results


def _refused_by_verifier(error: RankError) -> RankError:
    """Return ``error``; it blames the argument where the module was refused before anything ran.

    MLIR says of most such modules which operation it was and why, and has one class for all of it.
    """
    before = error.kind == "MLIRError" and error.message.startswith("Unable to parse module assembly")
    return msgspec.structs.replace(error, category="invalid_argument") if before else error


def types_of(case: Case) -> Types:
    """Return dtype and shape of every input; raise ``Unsupported`` where ranks differ in them."""
    found = {}
    for name, operand in case.inputs.items():
        kinds = {(block.dtype, tuple(block.shape)) for block in operand.blocks}
        if len(kinds) != 1:
            raise Unsupported(f"{name}: all processes run one function, so their blocks are alike, not {kinds}")
        (found[name],) = kinds
    return found
