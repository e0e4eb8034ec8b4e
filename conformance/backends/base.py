"""The protocol of an implementation under test.

The smallest backend is a subclass with one method for each operation it supports. A method takes the
operands, each a list of arrays with one block a rank, and by keyword ``groups`` (tuples of ranks) and the
operation's attributes; it returns one block a rank, or raises.

Programs in which ranks run different steps, are late or die are for backends that claim the feature ``faults`` and run
whole programs: they override ``execute`` and raise, or have each rank raise, within their ``patience``.

Programs with effects ask for more, of backends that claim the feature ``effects`` alone. ``into``: the method takes
``out`` by keyword too, blocks to write the result into, and returns them, or ``None``. ``start``: ``start_NAME`` takes
what ``NAME`` takes and returns anything, of which ``wait`` makes what ``NAME`` returns. Buffers, views, ``assign``,
``copy`` and ``free`` are NumPy's here: the blocks a method gets are the real storage.

Programs that compute beside their collectives are for backends that claim the feature ``computes`` and have a method
``compute``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, ClassVar, Final, TypeVar

import msgspec

from conformance.backends.case_arrays import Placed, place_inputs, tensors, touched
from conformance.backends.exceptions import Refused, Unsupported, rank_error
from conformance.backends.explanation import Explanation
from conformance.backends.held import Held
from conformance.backends.held_storage import read_first, stored
from conformance.backends.idle_calls import Ready, alone
from conformance.backends.method_calls import blocks_of, called, operand_count
from conformance.cases.case import Case
from conformance.cases.declarations.guarantees import Guarantee
from conformance.cases.declarations.number_model import Declared
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.graph import Graph
from conformance.cases.observation import Observation
from conformance.cases.program.operations import TABLE
from conformance.cases.program.program import COMPUTING, EFFECTS, Program, Step, rank_groups
from conformance.cases.schedule.schedule import Schedule
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import Tensor
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.lowered import Lowered
from conformance.cases.types.typed_case import Level
from conformance.cases.types.typed_program import TypedProgram

T = TypeVar("T")

Claims = Mapping[str, Mapping[str, Sequence[str]]]

NEARLY: Final = 0.85
"""How alike a method's name and that of an operation are when it is taken for one: all_redcue is, reduce_all is not."""

PATIENCE: Final = 10.0
"""Seconds after which a program that cannot go on has ended, unless a backend says otherwise."""


Types = dict[str, AxisType]
"""The type of each value that a step of a typed program makes."""


class Backend:
    """An implementation under test. Subclass it; every method below has a default.

    One that ``adapts`` a framework is not what is judged: an exception of its own lines is an ``adapter_error``, and
    says nothing of the framework. ``conformance.backends.attribution`` tells the two apart. ``system`` names the
    framework that ``conformance reproduce`` writes scripts of; none is written where it names none.
    """

    name: ClassVar[str] = ""
    adapts: ClassVar[bool] = False
    system: ClassVar[str] = ""

    @property
    def claims(self) -> Claims:
        """Return, for each supported operation, the features it is limited to (``conformance.cases.program.features``).

        ``{"all_reduce": {"op": ["sum"], "dtype": ["float32"]}}``; a feature not named is not limited, but for
        ``effects``, ``faults`` and ``computes``, of which an operation that does not name them has none.
        By default every public method that has the name of an operation, or nearly so, is one without limits: a
        misspelt name is refused, and other methods are nobody's business. Who overrides ``schedule`` claims those of
        graphs and of programs.
        """
        own = {name for name in dir(type(self)) if not name.startswith(("_", "start_"))} - set(dir(Backend))
        meant = (name for name in sorted(own) if get_close_matches(name, TABLE, n=1, cutoff=NEARLY))
        scheduled = () if type(self).schedule is Backend.schedule else ("schedule_of_graph", "schedule_of_program")
        return {name: {} for name in (*meant, *scheduled) if name in scheduled or callable(getattr(self, name))}

    @property
    def guarantees(self) -> Sequence[Guarantee]:
        """Return what is promised of the bits of reductions whose order shows.

        The words are those of ``conformance.cases.declarations.guarantees``.

        The clause of a guarantee is a *must* for whoever gives it and a *may* for everybody else.
        """
        return ()

    @property
    def follows(self) -> Sequence[str]:
        """Return the sources whose documented divergences from this specification are this implementation's too.

        A divergence (``conformance spec CLAUSE`` shows it) is recorded and not failed for whoever follows its source.
        """
        return ()

    @property
    def number_model(self) -> Declared:
        """Return what is chosen about numbers where several choices are right.

        The words are those of ``conformance.cases.declarations.number_model``.

        ``{"mean": "reciprocal", "accumulate": {"bfloat16": "float32"}}``; a kind that is not named has its first word.
        """
        return {}

    @property
    def patience(self) -> float:
        """Return the seconds within which a program that cannot go on ends, where ``faults`` are claimed."""
        return PATIENCE

    @property
    def case_limit(self) -> float:
        """Return the seconds that one case may need, where that is more than a run allows each; 0 where it is not."""
        return 0.0

    @property
    def examples(self) -> int:
        """Return how many draws of an operation are asked of it in the time of a profile's number; 0 for all of them.

        ``--examples`` with a number of its own asks that number of every backend.
        """
        return 0

    @property
    def together(self) -> Mapping[str, int]:
        """Return how many cases one compilation takes: of ``programs`` (``execute_together``), of ``graphs``.

        None by default, so that every case is asked about alone.
        """
        return {}

    def describe(self) -> dict[str, str]:
        """Return what is needed to reproduce a run: versions, devices, drivers."""
        return {}

    def execute(self, case: Case) -> Observation:
        """Run the program of ``case`` on placed inputs and return what happened; never raise."""
        start = time.perf_counter()
        placed = place_inputs(case)
        try:
            results = self._walk(case, placed)
        except Exception as error:  # noqa: BLE001 - whatever an implementation raises is its observation
            return Observation(
                errors=(rank_error(error, adapts=self.adapts),) * case.program.world,
                touched=touched(case, placed, inside=True),
                seconds=time.perf_counter() - start,
            )
        seconds = time.perf_counter() - start
        return Observation(results=results, touched=touched(case, placed), seconds=seconds)

    def execute_many(self, cases: Sequence[Case]) -> Iterable[Observation]:
        """Yield one observation a case, in order; override it where a batch is cheaper.

        More cases may be appended to ``cases`` meanwhile; those taken up need not be handed over again.
        """
        for case in cases:
            yield self.execute(case)

    def execute_together(self, cases: Sequence[Case]) -> Sequence[Observation]:
        """Run programs of one mesh in company, as independent results of one compilation; return one observation each.

        Raise whatever is wrong with the company; a case that is refused by itself has its error in its observation. A
        case whose result does not hold is asked about alone, and that is its verdict.
        """
        raise Unsupported(f"{type(self).__name__} runs programs one by one, not {len(cases)} together")

    def graphs_together(self, cases: Sequence[GraphCase]) -> Sequence[Observation]:
        """Run graph cases in company, as ``execute_together`` does programs."""
        raise Unsupported(f"{type(self).__name__} runs graphs one by one, not {len(cases)} together")

    def anticipate(self, calls: Sequence[Callable[[], object]]) -> None:
        """Be shown what is asked next but for programs, each as the call that answers it; override it to use that.

        A call may be made, and whatever comes of it is nobody's answer. What this raises is not looked at.
        """

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Return the schedule made of a program or of a graph, without running it.

        Its form is ``conformance.cases.schedule.schedule``.

        Of a program the buffers, the places of results and the labels of items have the names that the program's graph
        gives them (``docs/schedules.md``); the graph itself is the judge's. With ``planned`` false no two values share
        storage. Raise ``Unsupported`` for what there are no words for, and whatever is raised for an illegal program.
        """
        raise Unsupported(f"{type(self).__name__} gives no schedules")

    def reschedule(
        self, asked: Case | Graph, *, iteration: int = 0, switched: bool = False, costs: int | None = None
    ) -> Schedule:
        """Return the schedule of a program or a graph under another circumstance, one of three.

        Either it is that of a later ``iteration`` of what was compiled once: of the first run after the one that
        ``schedule`` is about, or a later one. Or it is ``switched``: every pass and algorithm for communication that is
        on is off, and the others are on. Or a cost model is given estimates that are drawn from the seed ``costs``,
        others on each device. Raise ``Unsupported`` where there is nothing of the kind.
        """
        raise Unsupported(f"{type(self).__name__} schedules in one circumstance")

    def remaining(self, asked: Case | Graph) -> Schedule:
        """Run a program or a graph, ask for the same values once more, and return the schedule of what is to do now.

        It has an item for whatever would be computed, moved or written again, and none where all values are kept. Raise
        ``Unsupported`` where nothing is kept between two calls, so that there is nothing to ask.
        """
        raise Unsupported(f"{type(self).__name__} keeps no values to ask for again")

    def explain(self, case: Any) -> Sequence[Explanation]:
        """Return what becomes of a program, or of each round of a graph: its values, kernels, buffers and order.

        Raise ``Unsupported`` where there is nothing to show.
        """
        raise Unsupported(f"{type(self).__name__} explains nothing of what it does")

    def run_graph(self, case: GraphCase) -> Mapping[str, Array]:
        """Run a graph case and return what its rounds ask for and read, by ``conformance.cases.graph.case.keys``.

        Raise ``Unsupported`` for what there are no words for, and whatever is raised for movement out of range.
        """
        raise Unsupported(f"{type(self).__name__} runs no graphs")

    def graph(self, case: GraphCase) -> Observation:
        """Run a graph case and return what happened, each value a result of one rank; never raise."""

        def told(given: Mapping[str, Array]) -> Observation:
            return Observation(results=tensors({key: [array] for key, array in given.items()}))

        return self._observed(lambda: self.run_graph(case), told, 1)

    def run_sharded(self, case: ShardedCase) -> Mapping[str, Held]:
        """Run a program on sharded tensors and return what is asked for and read, by ``ShardedCase.results``.

        Of each value it returns what every device holds, in the order of the mesh, wherever it was left. Raise
        ``Unsupported`` for what there are no words for, and whatever is raised for placements that do not fit.
        """
        raise Unsupported(f"{type(self).__name__} has no sharded tensors")

    def sharded(self, case: ShardedCase) -> Observation:
        """Run a program on sharded tensors and return what happened; never raise."""

        def told(given: Mapping[str, Held]) -> Observation:
            return Observation(
                results=tensors({key: list(each.parts) for key, each in given.items()}),
                layouts={key: each.layout for key, each in given.items()},
                moved={key: each.moved for key, each in given.items() if each.moved is not None},
                sizes={key: each.size for key, each in given.items() if each.size is not None},
                realized={key: each.realized for key, each in given.items() if each.realized is not None},
            )

        return self._observed(lambda: self.run_sharded(case), told, case.world)

    def _observed(self, run: Callable[[], T], told: Callable[[T], Observation], world: int) -> Observation:
        """Return what a run gave, as ``told`` says it, or what it raised on each of ``world`` ranks, with its time."""
        start = time.perf_counter()
        try:
            given = run()
        except Exception as error:  # noqa: BLE001 - whatever an implementation raises is its observation
            raised = rank_error(error, adapts=self.adapts)
            return Observation(errors=(raised,) * world, seconds=time.perf_counter() - start)
        return msgspec.structs.replace(told(given), seconds=time.perf_counter() - start)

    def typed(self, program: TypedProgram, inputs: Mapping[str, list[Array]]) -> tuple[Types, dict[str, list[Array]]]:
        """Return the type of each value that a step makes, and the blocks of each result, one a rank.

        Of an unreduced result the blocks are those of its sum. ``inputs`` has a block for each rank. Whatever is raised
        refuses the program.
        """
        raise Unsupported(f"{type(self).__name__} gives no types")

    def lowered(self, program: TypedProgram) -> list[Lowered]:
        """Return what the steps of a typed program are lowered to, in order; raise where there is no such thing."""
        del program
        raise Unsupported(f"{type(self).__name__} shows nothing that it lowers")

    def compiled(self, program: TypedProgram) -> list[Lowered]:
        """Return the collectives of a compiled typed program, in any order; raise where there is no such thing."""
        del program
        raise Unsupported(f"{type(self).__name__} shows nothing that it compiles")

    def pushforward(
        self, program: TypedProgram, inputs: Mapping[str, list[Array]], tangents: Mapping[str, list[Array]]
    ) -> dict[str, list[Array]]:
        """Return the tangent of each result, one block a rank, of an unreduced one the sum; raise where none is."""
        del program, inputs, tangents
        raise Unsupported(f"{type(self).__name__} pushes no tangents")

    def pullback(
        self, program: TypedProgram, inputs: Mapping[str, list[Array]], cotangents: Mapping[str, list[Array]]
    ) -> dict[str, list[Array]]:
        """Return the cotangent of each input, one block a rank, where results have ``cotangents``."""
        raise Unsupported(f"{type(self).__name__} pulls no cotangents back")

    def batched(
        self, program: TypedProgram, levels: Sequence[Level], inputs: Mapping[str, list[Array]]
    ) -> dict[str, list[Array]]:
        """Return the blocks of each result of a program mapped over ``levels``, the outermost first.

        ``inputs`` have the axes of the levels, as ``Level`` says where; every result has them where it says. Of an
        unreduced result the blocks are those of its sum.
        """
        raise Unsupported(f"{type(self).__name__} maps nothing over new axes")

    def close(self) -> None:
        """Release processes and devices."""

    def wait(self, ticket: Any) -> Any:
        """Return the blocks of a collective whose ``start_NAME`` returned ``ticket``; it may be asked for twice."""
        raise Unsupported(f"{type(self).__name__} has no wait for {ticket!r}")

    def compute(self, step: Step, operands: Sequence[Sequence[Array]]) -> Sequence[Array]:
        """Return the block that a step gives on each rank that computes, of the blocks of its operands.

        What the steps are says ``conformance.cases.program.computing``. They are asked of operations whose claims name
        the feature ``computes``.
        """
        raise Unsupported(f"{type(self).__name__} computes nothing beside collectives, and has no {step.op}")

    def _walk(self, case: Case, placed: Placed) -> dict[str, tuple[Tensor | None, ...]]:
        """Run the steps in order: each operand of a method that takes one, all at once for a method that takes more."""
        values: dict[str, Any] = {name: [view for _, view in ranks] for name, ranks in placed.items()}
        for index, step in enumerate(case.program.steps):
            self._inject_faults(case, index)
            taken = [values[name] for name in step.inputs]
            if step.op in EFFECTS:
                made = self._waited(taken) if step.op == "done" else stored(case, placed, step, taken)
            elif step.op in COMPUTING:
                made = [self.compute(step, taken)]
            else:
                made = self._collective(case.program, step, taken, [values[name] for name in step.into])
            values.update(zip(step.outputs, made, strict=False))
        return tensors({name: values[name] for name in case.program.results})

    def _inject_faults(self, case: Case, index: int) -> None:
        """Let happen what befalls ranks before step ``index``: here all run every step, and none is late or dies."""
        if case.troubled:
            raise Unsupported(f"{type(self).__name__} has no ranks of their own")

    def _collective(self, program: Program, step: Step, operands: list[Any], targets: list[Any]) -> list[Any]:
        """Return the results of a collective, or its tickets."""
        name = f"start_{step.op}" if step.start else step.op
        method = getattr(self, name, None)
        if method is None:
            raise Unsupported(f"{type(self).__name__} has no {name}")
        if targets and len(targets) != len(step.outputs):
            raise self._illegal(f"{len(step.outputs)} results cannot go into {len(targets)} targets")
        try:
            groups = rank_groups(program.mesh, step.axes, step.groups)
        except ValueError as error:
            raise self._illegal(str(error)) from None
        if operand_count(method) != 1:
            made = called(method, operands, targets[0] if targets else None, {**step.attrs, "groups": groups})
            return [made if step.start else blocks_of(made)] if step.outputs else []
        results = []
        for operand, target in zip(read_first(operands, targets), targets or [None] * len(operands), strict=True):
            if step.idle:
                results.append(Ready(alone(operand, target)) if step.start else alone(operand, target))
            else:
                made = called(method, [operand], target, {**step.attrs, "groups": groups})
                results.append(made if step.start else blocks_of(made))
        return results

    def _waited(self, tickets: list[Any]) -> list[Any]:
        """Return the results of collectives that were started."""
        return [ticket.blocks if isinstance(ticket, Ready) else blocks_of(self.wait(ticket)) for ticket in tickets]

    def _illegal(self, why: str) -> Exception:
        """Return what is raised for a step that no method can be given: there is nothing to ask a framework then."""
        return Unsupported(f"{why}; no method can be called") if self.adapts else ValueError(why)


__all__ = ["NEARLY", "PATIENCE", "Backend", "Claims", "Held", "Ready", "Refused", "Types", "Unsupported", "alone"]
