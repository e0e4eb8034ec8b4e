"""The oracle behind the worker, judged like any other, and the base of every broken backend.

Here: how a case becomes calls of the reference's functions, and how its results become an observation.
Not here: what the functions compute (``conformance.reference``), and the mistakes (``qualification``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from types import MappingProxyType
from typing import Any, ClassVar, Final

from msgspec.structs import replace

from conformance.backends.base import Backend, Claims, Held, Types
from conformance.backends.case_arrays import Placed, placed_operand, tensors
from conformance.backends.held_storage import poison
from conformance.backends.reference.sharded import ShardedWalk
from conformance.cases.case import Case
from conformance.cases.declarations.guarantees import PRESUPPOSES, Guarantee
from conformance.cases.graph.case import GraphCase
from conformance.cases.observation import Observation
from conformance.cases.program.computing import ALL_WORDS
from conformance.cases.program.effect_words import CAPABILITIES
from conformance.cases.program.rank_faults import WORDS
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import Tensor
from conformance.cases.types.lowered import Lowered
from conformance.cases.types.typed_case import Level
from conformance.cases.types.typed_program import TypedProgram
from conformance.reference.divergent_ranks import Meeting
from conformance.reference.effects import Effects, Ranks
from conformance.reference.graph.evaluate import evaluate
from conformance.reference.operations import OPERATIONS
from conformance.reference.rejection import Rejected
from conformance.reference.sharded.evaluate import run_sharded
from conformance.reference.spmd import Operation, Watch, run
from conformance.reference.transforms.batching import batched
from conformance.reference.transforms.pullback import pullback
from conformance.reference.transforms.pushforward import pushforward
from conformance.reference.types.check import check
from conformance.reference.types.compiled import compiled
from conformance.reference.types.lowering import lowered
from conformance.reference.types.values import evaluate as typed_values
from conformance.reference.types.values import visible

TYPED: Final[Claims] = dict.fromkeys(
    ("typed_program", "transposed_program", "batched_program", "lowered_program", "compiled_program", "pushed_program"),
    MappingProxyType({}),
)
"""Typed programs, their transposes and programs mapped over new axes, without limits."""


class Stored(Effects):
    """Buffers in the layouts that the case asks for, found in ``placed`` when it is over."""

    def __init__(self, case: Case, placed: Placed) -> None:
        """Add the buffers of ``case`` to ``placed`` as they are made."""
        self.case, self.placed = case, placed

    def buffer(self, name: str, operand: str, blocks: Ranks) -> Ranks:
        """Place the blocks as the input was placed."""
        self.placed[name] = placed_operand(self.case.inputs[operand])
        views = [view for _, view in self.placed[name]]
        for view, block in zip(views, blocks, strict=True):
            view[...] = block
        return views

    def free(self, blocks: Ranks) -> None:
        """Poison the storage, so that whoever still reads it is found out."""
        poison(blocks)


class Reference(Backend):
    """Runs each operation's reference function."""

    name = "reference"
    meeting: ClassVar[type[Meeting]] = Meeting
    _why: Rejected | None = None

    @property
    def claims(self) -> Claims:
        """Return every operation of the specification, without limits."""
        found = {name: {"effects": CAPABILITIES, "faults": WORDS, "computes": ALL_WORDS} for name in OPERATIONS}
        return {**found, **TYPED, "graph": {}, "sharded": {}}

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """Return all of them: every element is folded in member order, whatever is around it."""
        return tuple(PRESUPPOSES)

    def describe(self) -> dict[str, str]:
        """Return the NumPy that computes."""
        return {name: _version(name) for name in ("numpy", "ml_dtypes")}

    def typed(self, program: TypedProgram, inputs: Mapping[str, list[Array]]) -> tuple[Types, dict[str, list[Array]]]:
        """Return the checker's types, and the values; of an unreduced one the sum."""
        types, values = check(program), typed_values(program, inputs)
        made = {step.output: types[step.output] for step in program.steps}
        return made, {name: visible(program, types[name], values[name]) for name in program.results}

    def lowered(self, program: TypedProgram) -> list[Lowered]:
        """Return what the rules of lowering give."""
        return lowered(program)

    def compiled(self, program: TypedProgram) -> list[Lowered]:
        """Return all that a compiler may make, none left out."""
        return compiled(program)

    def pushforward(
        self, program: TypedProgram, inputs: Mapping[str, list[Array]], tangents: Mapping[str, list[Array]]
    ) -> dict[str, list[Array]]:
        """Return what the rules of tangents give."""
        types, found = check(program), pushforward(program, inputs, tangents)
        return {name: visible(program, types[name], found[name]) for name in program.results}

    def pullback(
        self, program: TypedProgram, inputs: Mapping[str, list[Array]], cotangents: Mapping[str, list[Array]]
    ) -> dict[str, list[Array]]:
        """Return what the transposes give."""
        return pullback(program, inputs, cotangents)

    def batched(
        self, program: TypedProgram, levels: Sequence[Level], inputs: Mapping[str, list[Array]]
    ) -> dict[str, list[Array]]:
        """Return what the slices give."""
        return batched(program, levels, inputs)

    def _walk(self, case: Case, placed: Placed) -> dict[str, tuple[Tensor | None, ...]]:
        """Run the program by this backend's methods, with every check of the oracle."""
        values = {name: [view for _, view in ranks] for name, ranks in placed.items()}
        operations = {name: getattr(self, name) for name in OPERATIONS}
        return self._run(case, values, operations, self._effects(case, placed))

    def _run(
        self,
        case: Case,
        values: Mapping[str, list[Array]],
        operations: Mapping[str, Operation],
        effects: Effects,
        watch: Watch | None = None,
    ) -> dict[str, tuple[Tensor | None, ...]]:
        """Return the results; of a program in which some ranks cannot go on, keep why, for the others can."""
        try:
            return tensors(run(case, values, operations, effects, self.meeting, watch=watch))
        except Rejected as why:
            self._why = why
            raise

    def execute(self, case: Case) -> Observation:
        """Run a program; of one in which some ranks cannot go on the others return what they have. Never raise."""
        self._why = None
        seen, why = super().execute(case), self._why
        if why is None or why.ranks is None or not seen.raised:
            return seen
        stopped = {*why.ranks, *case.dying}
        errors = tuple(error if rank in stopped else None for rank, error in enumerate(seen.errors))
        return replace(seen, errors=errors, results=tensors(why.results))

    def run_graph(self, case: GraphCase) -> dict[str, Array]:
        """Evaluate a graph case as the oracle does."""
        return {key: meant.array for key, meant in evaluate(case).items()}

    def run_sharded(self, case: ShardedCase) -> dict[str, Held]:
        """Run a program part by part; raise ``Rejected`` for what has no meaning."""
        run_sharded(case)
        return ShardedWalk(case).run()

    def _effects(self, case: Case, placed: Placed) -> Effects:
        """Return what makes the storage of one program and writes it."""
        return Stored(case, placed)

    def __getattr__(self, name: str) -> Any:
        """Return the reference function called ``name``."""
        if name in OPERATIONS:
            return OPERATIONS[name]
        raise AttributeError(name)


@cache
def _version(package: str) -> str:
    # Metadata are parsed anew each time: 2.5 ms, and qualification introduces thousands of references.
    return version(package)
