"""The dialect of typed programs: what types say of mesh axes, and what cotangents come to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

from conformance.cases.declarations.terms import Terms
from conformance.cases.program.validate import MOST_RANKS
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.types.attributes import REDUCTIONS
from conformance.cases.types.axis_type import STATES
from conformance.cases.types.codec import load_typed, save_typed
from conformance.cases.types.starts import STARTS
from conformance.cases.types.typed_case import NAME, TypedCase, typed_id
from conformance.cases.types.typed_program import COLLECTIVES, LOCAL
from conformance.cases.types.validate import validate_case
from conformance.generate.domains import TYPES as DOMAINS
from conformance.judging.typed import TypedClause
from conformance.judging.typed_comparisons import refused
from conformance.reference.rejection import Rejected
from conformance.reference.transforms.meaning import TypedMeaning, typed_meaning
from conformance.runner.dialect import Dialect, DialectSuite, Dialogue, Facts
from conformance.runner.dialects.single_question import ask_once
from conformance.runner.dialects.typed_reductions import reductions
from conformance.runner.records.record import Covered
from conformance.specs.types.batches import BATCHES
from conformance.specs.types.clauses import CLAUSES, TRANSPOSES, TYPES
from conformance.specs.types.compiled import COMPILED as COMPILED_CLAUSES
from conformance.specs.types.lowering import LOWERING
from conformance.specs.types.pushes import PUSHES
from conformance.specs.types.starts import names_of_starts
from conformance.specs.types.verdict import answering, judge, speaking

TYPED: Final = "typed_program"
TRANSPOSED: Final = "transposed_program"
BATCHED: Final = "batched_program"
LOWERED: Final = "lowered_program"
COMPILED: Final = "compiled_program"
PUSHED: Final = "pushed_program"
"""The operations that cases are recorded under."""

OPS: Final = {
    NAME: TYPED,
    "transposed": TRANSPOSED,
    "batched": BATCHED,
    "lowered": LOWERED,
    "compiled": COMPILED,
    "pushed": PUSHED,
}
"""The operation of each kind of case."""


def mean(case: TypedCase) -> TypedMeaning | None:
    """Return what a case means.

    It is ``None`` without steps, where an operation refuses a shape, and where a mapped program is ill typed.
    """
    validate_case(case)
    if not case.program.steps:
        return None
    try:
        meaning = typed_meaning(case)
    except Rejected:
        return None
    legal = case.batch or case.lowered or case.compiled or case.tangents
    return None if legal and meaning.refused is not None else meaning


def facts(meaning: TypedMeaning) -> Facts:
    """Return what a record says of a case. Claims may limit the operations, the checks and what is mapped."""
    case, program = meaning.case, meaning.case.program
    op = OPS[case.kind]
    words = {
        "dtype": frozenset(given.dtype for given in program.inputs.values()),
        "steps": frozenset(step.op for step in program.steps),
        "op": frozenset(str(step.attrs["op"]) for step in program.steps if "op" in step.attrs),
        "checks": frozenset({"on" if program.checked else "off"}),
        "casts": frozenset({"automatic" if program.automatic else "written"}),
        "mapped": frozenset({"all" if program.mapped is None else "some"}),
        "groups": frozenset({"some" if any(step.groups is not None for step in program.steps) else "none"}),
        "across": frozenset(_across(case)),
        "local_axes": frozenset(str(s.attrs["op"]) for s in program.steps if s.attrs.get("local_axes")) or {"none"},
        "starts": frozenset(_starts(meaning)) or frozenset({"none"}),
        "tiled": frozenset(str(step.attrs.get("tiled", "none")).lower() for step in program.steps),
        "to": frozenset(str(step.attrs.get("to", "none")) for step in program.steps),
        "states": frozenset(_states(meaning)) or frozenset({"none"}),
        "implied": frozenset(_implied(meaning)) or frozenset({"none"}),
        "axes": frozenset({"one" if len(program.mesh) == 1 else "several"}),
        "refused": frozenset({"none" if meaning.refused is None else meaning.refused.clause}),
        "world": frozenset({str(program.world)}),
    }
    dtypes = "+".join(sorted(words["dtype"]))
    return Facts(op, (op,), dtypes, program.world, legal=meaning.refused is None, features={op: words})


def _across(case: TypedCase) -> Iterator[str]:
    """Yield for each collective whether it meets across mesh axes, across the slices of levels, or both at once."""
    levels = {level.name for level in case.batch}
    for step in case.program.steps:
        if step.axes and case.batch:
            inside = levels & set(step.axes)
            yield "mesh" if not inside else "level" if len(step.axes) == 1 else "both"


def _starts(meaning: TypedMeaning) -> Iterator[str]:
    """Yield the name of each start; untiled ones of a reduce_scatter have another."""
    for step, name in names_of_starts(meaning):
        yield f"{name} untiled" if step.op == "reduce_scatter" and not step.attrs["tiled"] else name


def _states(meaning: TypedMeaning) -> Iterator[str]:
    """Yield the states that values of a checked program have along the axes of its mesh."""
    if meaning.case.program.checked:
        for given in meaning.types.values():
            yield from given.states(axis.name for axis in meaning.case.program.mesh)


def _implied(meaning: TypedMeaning) -> Iterator[str]:
    """Yield for what kind of step an operand is cast that no step casts."""
    program = meaning.case.program
    if meaning.refused is not None or not program.checked or meaning.case.batch:
        return
    whole = {step.output: step for step in meaning.written.steps}
    for step in program.steps:
        if whole[step.output].inputs != step.inputs:
            yield "local" if step.op in LOCAL else "collective"


def dialogue(meaning: TypedMeaning, terms: Terms) -> Dialogue:
    """Ask for types and values, for cotangents or for mapped results."""
    return ask_once(meaning.case, lambda seen: judge(meaning, seen, terms.follows), lambda: _ended(meaning))


def _ended(meaning: TypedMeaning) -> TypedClause:
    """Return the clause to blame where a worker gave nothing."""
    return answering(meaning, speaking(meaning))


def valued(meaning: TypedMeaning) -> bool:
    """Return whether a program reads an element, or is asked what becomes of its steps."""
    case = meaning.case
    return bool(case.lowered or case.compiled) or any(block.bits for given in case.inputs.values() for block in given)


def size(case: TypedCase) -> tuple[int, ...]:
    """Return how large a case is: ranks, steps, inputs, elements and options, the worst to read first."""
    program = case.program
    elements = sum(len(block.bits) for blocks in case.inputs.values() for block in blocks)
    options = (program.mapped is not None) + (not program.automatic) + (not program.checked)
    levels = len(case.batch), sum(level.size for level in case.batch)
    return program.world, len(program.steps), len(program.inputs), len(program.mesh), *levels, elements, options


@dataclass
class Situations:
    """Counts which clauses spoke about the cases that were drawn."""

    seen: set[str] = field(default_factory=set)

    def add(self, meaning: TypedMeaning) -> None:
        """Count one case."""
        self.seen.update(clause.id for clause in speaking(meaning))

    def measured(self) -> dict[str, Covered]:
        """Return the share of clauses about types and transposes that spoke."""
        holes = tuple(clause.id for clause in CLAUSES if clause.id not in self.seen)
        return {"clauses of types": Covered(met=len(CLAUSES) - len(holes), feasible=len(CLAUSES), holes=holes)}


OF_TRANSFORMED: Final = {
    TRANSPOSED: TRANSPOSES,
    BATCHED: BATCHES,
    LOWERED: LOWERING,
    COMPILED: COMPILED_CLAUSES,
    PUSHED: PUSHES,
}
"""The clauses by operation; those of all others are ``TYPES``."""


def _own(op: str, terms: Terms) -> tuple[TypedClause, ...]:
    del terms
    return OF_TRANSFORMED.get(op, TYPES)


def _clauses(op: str, terms: Terms) -> tuple[TypedClause, ...]:
    """Return the clauses of an operation, and of transposes the rules too that refuse their programs."""
    own = _own(op, terms)
    if op != TRANSPOSED:
        return own
    return (*(clause for clause in CLAUSES if clause.check is refused and clause not in own), *own)


def _expected(ops: Sequence[str], suites: Sequence[str]) -> AbstractSet[str]:
    asked = (
        (TYPED, "types", TYPES),
        (TRANSPOSED, "transforms", TRANSPOSES),
        (BATCHED, "transforms", BATCHES),
        (LOWERED, "lowering", LOWERING),
        (COMPILED, "lowering", COMPILED_CLAUSES),
        (PUSHED, "transforms", PUSHES),
    )
    return {clause.id for op, suite, clauses in asked if op in ops and suite in suites for clause in clauses}


DIALECT: Final = Dialect(
    name=NAME,
    summary="Programs whose values have a type for each mesh axis, their transposes, and their mapping over new axes.",
    case=TypedCase,
    id_of=typed_id,
    save=save_typed,
    load=load_typed,
    suites={
        "types": DialectSuite(
            "types",
            "Which programs are well typed, and what their values are.",
            {TYPED: DOMAINS[TYPED]},
            share=4 / 3,
        ),
        "lowering": DialectSuite(
            "lowering",
            "What a compiler makes of programs over mesh axes: which ranks meet, and in which order.",
            {LOWERED: DOMAINS[LOWERED], COMPILED: DOMAINS[COMPILED]},
            share=0.25,
        ),
        "transforms": DialectSuite(
            "transforms",
            "What cotangents of results come to at the inputs, and what programs mapped over new axes give.",
            {TRANSPOSED: DOMAINS[TRANSPOSED], BATCHED: DOMAINS[BATCHED], PUSHED: DOMAINS[PUSHED]},
            share=0.5,  # 150 draws reach every clause on seed 0, the last new one at draw 132.
        ),
    },
    mean=mean,
    facts=facts,
    clauses=_clauses,
    own=_own,
    speaking=lambda meaning: frozenset(clause.id for clause in speaking(meaning)),
    expected=_expected,
    dialogue=dialogue,
    probed=lambda claims, meaning: facts(meaning).op in claims,
    features={
        "dtype": tuple(NUMPY),
        "steps": tuple(sorted(COLLECTIVES | set(LOCAL))),
        "op": REDUCTIONS,
        "checks": ("on", "off"),
        "casts": ("automatic", "written"),
        "mapped": ("all", "some"),
        "groups": ("none", "some"),
        "across": ("mesh", "level", "both"),
        "local_axes": ("none", *REDUCTIONS),
        "starts": ("none", *STARTS, "reduce_scatter untiled", "unreduced_reduce_scatter untiled"),
        "tiled": ("true", "false", "none"),
        "to": ("none", *STATES),
        "states": ("none", *STATES),
        "implied": ("none", "local", "collective"),
        "axes": ("one", "several"),
        "refused": ("none", *(clause.id for clause in TYPES if clause.check is refused)),
        "world": tuple(str(world) for world in range(1, MOST_RANKS + 1)),
    },
    reductions=reductions,
    neutral=lambda case: iter(()),
    size=size,
    valued=valued,
    counting=Situations,
)
