"""JAX under judgement: ``shard_map`` over virtual CPU devices, checked (the default) or not, and ``vmap`` with names.

All call ``jit`` of a whole program, as most users do, after asking it to lower and compile: a call finds what was
compiled (0.8 ms after 30, against 30), and what JAX refuses to compile it is not asked again, for no data were looked
at. The object that ``compile`` returns is not called: it refuses 4-bit blocks that are on their devices, for their
layout.

Programs with effects are no functions of their inputs: they are dispatched step by step (``effects``).

Cases run one after the other, each compiled alone with the compiler's defaults. Measured and left out (jax 0.10.2, two
cores, time of a fresh case against the plain way): compiling a batch in two threads 0.77, but a crash in the compiler,
which happens, would then cast suspicion on every case before the guilty one; the older emitters 0.66 for all_to_all and
1 for the rest, no optimisation 0.71 for all_to_all and 1 for the rest, the older partitioner 0.83, but none of these is
what users run. ``check_vma``, one code generator not many, and indexing instead of squeezing made no difference beyond
noise.
"""

from __future__ import annotations

import os
import time
from functools import partial
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar, Final

from conformance.backends.base import Backend, Claims, Types, Unsupported
from conformance.backends.case_arrays import place_inputs, tensors, touched
from conformance.backends.companies import graph_observation
from conformance.backends.exceptions import rank_error
from conformance.backends.jax.claims import (
    GUARANTEES,
    NUMBERS,
    VMAP_GUARANTEES,
    VMAP_NUMBERS,
    claims,
    typed_claims,
    vmap_claims,
)
from conformance.backends.jax.devices import reads_types, start
from conformance.backends.jax.kept_programs import KeptPrograms
from conformance.backends.jax.launched import LAUNCH, launched, launched_claims, platform
from conformance.cases.case import Case
from conformance.cases.declarations.guarantees import Guarantee
from conformance.cases.declarations.number_model import Declared
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.graph import Graph
from conformance.cases.observation import Observation, RankError
from conformance.cases.program.program import EFFECTS
from conformance.cases.schedule.schedule import Schedule
from conformance.cases.tensor.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jax import Device

    from conformance.backends.base import Held
    from conformance.backends.jax.per_rank import Ranks
    from conformance.cases.program.program import Program
    from conformance.cases.sharded.case import ShardedCase
    from conformance.cases.tensor.dtypes import Array
    from conformance.cases.types.lowered import Lowered
    from conformance.cases.types.typed_case import Level
    from conformance.cases.types.typed_program import TypedProgram

TOGETHER: Final = 8
"""Cases that are compiled together. Of 21 programs on two ranks each took 36 ms of processor time alone, 28 in fours,
25 in eights and twelves, 29 in sixteens and 30 all at once (jax 0.10.2, two busy cores, in turn, thrice); of graphs 370
alone and 340 in eights."""


class Jax(Backend):
    """Compiles every program as a whole, one device a rank. JAX is imported when an instance is made, not before."""

    name = "jax"
    system = "jax"
    adapts = True
    mode: ClassVar = "shard_map under jit, check_vma as by default"
    checked: ClassVar = True
    numbers: ClassVar = NUMBERS

    def __init__(self) -> None:
        """Start JAX, or have a launcher start it in several processes; raise ``ImportError`` when it is not installed.

        Raise ``ValueError`` or ``OSError`` for a launcher that starts none.
        """
        import_module("jax")
        self._processes = launched() if self.name == "jax" and os.environ.get(LAUNCH) else None
        self._devices = [] if self._processes else self._start()
        self._over = self._load()
        self._kept = KeptPrograms(self._over, adapts=self.adapts)

    def _start(self) -> list[Device]:
        return start()

    def _load(self) -> Callable[[Program], Ranks]:
        from conformance.backends.jax import shard_map_ranks

        return partial(shard_map_ranks.over, devices=self._devices, checked=self.checked)

    @property
    def claims(self) -> Claims:
        """Return what JAX documents, for worlds with a device for each rank; of launched ranks collectives alone."""
        if self._processes:
            return launched_claims()
        worlds = [str(world) for world in range(1, len(self._devices) + 1)]
        documented = claims(self._devices[0].platform, checked=self.checked)
        typed = typed_claims(self._devices[0].platform, checked=self.checked) if reads_types() else {}
        graphs: Claims = import_module("conformance.backends.jax.graphs").CLAIMS if self.name == "jax" else {}
        placed: Claims = import_module("conformance.backends.jax.named_shardings").CLAIMS if self.name == "jax" else {}
        many = {op: {**limits, "world": worlds} for op, limits in {**documented, **placed}.items()}
        return {**many, **typed, **graphs}

    def run_graph(self, case: GraphCase) -> Mapping[str, Array]:
        """Compile each round of a graph, and call what was compiled."""
        self._kept.make_room()
        found: Mapping[str, Array] = import_module("conformance.backends.jax.graphs").run(case)
        return found

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Return the schedule of the HLO that a jitted graph is compiled to; raise ``Unsupported`` for the rest."""
        if isinstance(asked, Case) or self.name != "jax":
            raise Unsupported("a schedule is read of a graph that is jitted for one device")
        if not planned:
            raise Unsupported("XLA always plans where values lie")
        self._kept.make_room()
        made: Schedule = import_module("conformance.backends.jax.hlo.schedule").schedule(asked)
        return made

    def run_sharded(self, case: ShardedCase) -> Mapping[str, Held]:
        """Place arrays over a mesh, compile each round of a program on them, and call what was compiled."""
        found: Mapping[str, Held] = import_module("conformance.backends.jax.named_shardings").run(case, self._devices)
        return found

    @property
    def follows(self) -> tuple[str, ...]:
        """Return the source whose documented divergences are this framework's."""
        return ("jax",)

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """Return what JAX documents of the bits of its reductions."""
        return GUARANTEES

    @property
    def number_model(self) -> Declared:
        """Return what XLA chooses about numbers on the processor; of other platforms nothing was seen."""
        where = platform() if self._processes else self._devices[0].platform
        return self.numbers if where == "cpu" else {}

    @property
    def case_limit(self) -> float:
        """Return two minutes for launched ranks: the first case of a world waits for as many imports of JAX."""
        return 120.0 if self._processes else 0.0

    def describe(self) -> dict[str, str]:
        """Return versions, devices and flags."""
        versions = {"jax": version("jax"), "jaxlib": version("jaxlib")}
        if self._processes:
            ranks = f"jax.distributed of processes by {os.environ[LAUNCH]}"
            return {**versions, "platform": platform(), "ranks": ranks, "mode": self.mode, "x64": "enabled"}
        return {
            **versions,
            "platform": self._devices[0].platform,
            "device": self._devices[0].device_kind,
            "devices": str(len(self._devices)),
            "flags": os.environ["XLA_FLAGS"],
            "mode": self.mode,
            "x64": "enabled",
            **({} if reads_types() else {"types": "not read; this release keeps the state of a value in other places"}),
        }

    def execute(self, case: Case) -> Observation:
        """Compile the program unless it has been, run it on the placed inputs and read every rank's shard."""
        if self._processes:
            return next(self._processes.run((case,)))
        began = time.perf_counter()
        placed = place_inputs(case)
        inputs = {name: [view for _, view in ranks] for name, ranks in placed.items()}
        results: dict[str, tuple[Tensor | None, ...]] = {}
        error = None
        try:
            program = None if effectful(case.program) else self._kept.program(case, inputs)
            if program is None:
                results = tensors(self._kept.dispatched(case, placed))
            elif isinstance(program, RankError):
                error = program
            else:
                results = tensors(program.run(inputs))
        except Exception as raised:  # noqa: BLE001 - whatever JAX raises is the observation
            error = rank_error(raised, adapts=self.adapts)
        # One controller runs all ranks, so what it raises it raises for each of them.
        errors = (error,) * case.program.world if error else ()
        seconds = time.perf_counter() - began
        touches = touched(case, placed, inside=error is not None)
        return Observation(results=results, errors=errors, touched=touches, seconds=seconds)

    @property
    def together(self) -> Mapping[str, int]:
        """Return how many programs, and graphs, are one function."""
        if self._processes:
            return {}
        return {"programs": TOGETHER, "graphs": TOGETHER} if self.name == "jax" else {"programs": TOGETHER}

    def execute_together(self, cases: Sequence[Case]) -> Sequence[Observation]:
        """Compile programs as one function with independent results, and call it."""
        from conformance.backends.jax import company, per_rank

        self._kept.make_room(len(cases))
        placed = [place_inputs(case) for case in cases]
        made = [per_rank.whole(case.program, self._over(case.program)) for case in cases]
        views = [{name: [view for _, view in ranks] for name, ranks in one.items()} for one in placed]
        given = [one.arrays(inputs) for one, inputs in zip(made, views, strict=True)]
        found = company.together([one.traced for one in made], given, adapts=self.adapts)
        seen = []
        for case, one, held, result in zip(cases, made, placed, found, strict=True):
            error = result if isinstance(result, RankError) else None
            results = {} if error else {name: one.ranks.blocks(array) for name, array in result.items()}
            errors = (error,) * case.program.world if error else ()
            seen.append(Observation(results=tensors(results), errors=errors, touched=touched(case, held)))
        return seen

    def graphs_together(self, cases: Sequence[GraphCase]) -> Sequence[Observation]:
        """Compile the rounds of graphs as one function each, with independent results, and call it."""
        self._kept.make_room(len(cases))
        run: Any = import_module("conformance.backends.jax.graphs").run_together
        return [graph_observation(given) for given in run(cases, adapts=self.adapts)]

    def types(self, program: TypedProgram) -> Types:
        """Return the types of the avals, which needs neither values nor a compilation."""
        from conformance.backends.jax import typed_programs

        return typed_programs.types(program, self._devices)

    def typed(self, program: TypedProgram, inputs: Mapping[str, list[Array]]) -> tuple[Types, dict[str, list[Array]]]:
        """Return the types of the avals and the values under ``shard_map``."""
        from conformance.backends.jax import typed_programs

        found = self._kept.jitted(("values", program), lambda: typed_programs.values(program, self._devices), inputs)
        return {step.output: found.types[step.output] for step in program.steps}, found(inputs)

    def pushforward(
        self, program: TypedProgram, inputs: Mapping[str, list[Array]], tangents: Mapping[str, list[Array]]
    ) -> dict[str, list[Array]]:
        """Return the tangents of results by ``jax.jvp`` inside ``shard_map``."""
        from conformance.backends.jax import typed_programs

        given = {**inputs, **{f"d {name}": blocks for name, blocks in tangents.items()}}
        key = ("tangents", program)
        return self._kept.jitted(key, lambda: typed_programs.pushforward(program, self._devices), given)(given)

    def pullback(
        self, program: TypedProgram, inputs: Mapping[str, list[Array]], cotangents: Mapping[str, list[Array]]
    ) -> dict[str, list[Array]]:
        """Return the cotangents of inputs by ``jax.vjp`` inside ``shard_map``."""
        from conformance.backends.jax import typed_programs

        names = tuple(cotangents)
        given = {**inputs, **{f"ct {name}": blocks for name, blocks in cotangents.items()}}
        key = ("cotangents", program, names)
        return self._kept.jitted(key, lambda: typed_programs.pullback(program, self._devices, names), given)(given)

    def lowered(self, program: TypedProgram) -> list[Lowered]:
        """Return the facts of the StableHLO of a program."""
        from conformance.backends.jax import stablehlo_facts, typed_programs

        text, sums = typed_programs.lower(program, self._devices)
        found = stablehlo_facts.read(text)
        return found[: len(found) - sums]

    def compiled(self, program: TypedProgram) -> list[Lowered]:
        """Return the collectives of the HLO that XLA compiles."""
        from conformance.backends.jax import hlo_facts, typed_programs

        self._kept.make_room()
        return hlo_facts.read(typed_programs.compiled(program, self._devices))

    def batched(
        self, program: TypedProgram, levels: Sequence[Level], inputs: Mapping[str, list[Array]]
    ) -> dict[str, list[Array]]:
        """Return the results by ``jax.vmap`` inside ``shard_map``."""
        from conformance.backends.jax import typed_programs

        key = ("mapped", program, tuple(levels))
        made = self._kept.jitted(key, lambda: typed_programs.batched(program, self._devices, levels, inputs), inputs)
        return made(inputs)

    def close(self) -> None:
        """Drop every compiled program, and end the processes that were launched."""
        if self._processes:
            self._processes.close()
        self._kept.drop()


def effectful(program: Program) -> bool:
    """Return whether steps of ``program`` write or wait, so that it is more than a function of its inputs."""
    return any(step.op in EFFECTS or step.into or step.start for step in program.steps)


class JaxExplicit(Jax):
    """Runs programs on sharded tensors over a mesh of explicit axes: the sharding of every value is a part of its type.

    Where a program does not say how the result of a step is sharded, and operands do not either, JAX refuses it.
    """

    name = "jax-explicit"
    mode: ClassVar = "jit over a mesh of explicit axes"

    @property
    def claims(self) -> Claims:
        """Return what JAX documents of explicit axes, for meshes that have a device for each position."""
        worlds = [str(world) for world in range(1, len(self._devices) + 1)]
        placed: Claims = import_module("conformance.backends.jax.explicit_axes").CLAIMS
        return {op: {**limits, "world": worlds} for op, limits in placed.items()}

    def run_sharded(self, case: ShardedCase) -> Mapping[str, Held]:
        """Place arrays over a mesh of explicit axes, compile each round, and call what was compiled."""
        found: Mapping[str, Held] = import_module("conformance.backends.jax.explicit_axes").run(case, self._devices)
        return found


class JaxUnchecked(Jax):
    """Runs what the checks refuse: without them users have sums over groups, which are refused with no reason given."""

    name = "jax-unchecked"
    mode: ClassVar = "shard_map under jit, check_vma=False"
    checked: ClassVar = False


class JaxVmap(Jax):
    """Compiles the same programs under nested ``vmap``, all ranks on one device."""

    name = "jax-vmap"
    system = "jax-vmap"
    numbers: ClassVar = VMAP_NUMBERS
    mode: ClassVar = "vmap with an axis name for each mesh axis, under jit, on the first device"

    def _load(self) -> Callable[[Program], Ranks]:
        from conformance.backends.jax import vmap_ranks

        return vmap_ranks.over

    @property
    def claims(self) -> Claims:
        """Return what JAX documents."""
        return vmap_claims(self._devices[0].platform)

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """Return what JAX documents of the bits of its reductions under vmap."""
        return VMAP_GUARANTEES
