"""The dialect of typed programs: what types say of mesh axes, and what cotangents come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from conformance.backends.base import Claims
from conformance.cases.declarations.terms import Terms
from conformance.cases.types.codec import load_typed, save_typed
from conformance.cases.types.typed_case import NAME, TypedCase, typed_id, validate_case
from conformance.cases.types.typed_program import COLLECTIVES, LOCAL
from conformance.judging.typed import TypedClause
from conformance.judging.verdict import Verdict
from conformance.reference.rejected import Rejected
from conformance.reference.types.meaning import TypedMeaning, typed_meaning
from conformance.runner.dialect import Ask, Dialect, DialectSuite, Dialogue, Facts
from conformance.runner.log.log import Covered
from conformance.runner.worker.answers import Broken
from conformance.specs.domains.choose import Choice
from conformance.specs.types.clauses import CLAUSES, TRANSPOSES, TYPES
from conformance.specs.types.data import transposed_cases, typed_cases
from conformance.specs.types.verdict import judge, speaking

TYPED: Final = "typed_program"
TRANSPOSED: Final = "transposed_program"
"""The operations that cases are recorded under."""


def mean(case: TypedCase) -> TypedMeaning | None:
    """Return what a case means; ``None`` where there is no step, or nothing to go back from."""
    validate_case(case)
    if not case.program.steps:
        return None
    try:
        return typed_meaning(case)
    except Rejected:
        return None


def facts(meaning: TypedMeaning) -> Facts:
    """Return what a record says of a case. Claims may limit the operations, the checks and what is mapped."""
    case, program = meaning.case, meaning.case.program
    op = TRANSPOSED if case.cotangents else TYPED
    words = {
        "dtype": frozenset(given.dtype for given in program.inputs.values()),
        "steps": frozenset(step.op for step in program.steps),
        "checks": frozenset({"on" if program.checked else "off"}),
        "casts": frozenset({"automatic" if program.automatic else "written"}),
        "mapped": frozenset({"all" if program.mapped is None else "some"}),
    }
    dtypes = "+".join(sorted(words["dtype"]))
    return Facts(op, (op,), dtypes, program.world, legal=meaning.refused is None, features={op: words})


def dialogue(meaning: TypedMeaning, terms: Terms) -> Dialogue:
    """Ask for types and values, or for cotangents."""
    del terms
    answer = yield Ask(meaning.case)
    if isinstance(answer.result, Broken):
        return _broken(meaning, answer.result)
    return judge(meaning, answer.result)


def _broken(meaning: TypedMeaning, how: Broken) -> Verdict:
    if how.outcome == "not_run":
        return Verdict(outcome="not_run", clauses={}, detail=how.detail)
    blame = speaking(meaning)[-1]
    return Verdict(outcome=how.outcome, clauses={blame.id: "broken"}, blame=blame, detail=how.detail, error=how.error)


def outside(claims: Claims, meaning: TypedMeaning) -> str | None:
    """Return the claim that leaves a case out."""
    found = facts(meaning)
    if found.op not in claims:
        return f"{found.op} is not claimed"
    for feature, allowed in claims[found.op].items():
        if rest := found.features[found.op].get(feature, frozenset()) - set(allowed):
            return f"{found.op}: {feature} {', '.join(sorted(rest))} is not claimed"
    return None


def size(case: TypedCase) -> tuple[int, ...]:
    """Return how large a case is: ranks, steps, inputs, elements and options, the worst to read first."""
    program = case.program
    elements = sum(len(block.bits) for blocks in case.inputs.values() for block in blocks)
    options = (program.mapped is not None) + (not program.automatic) + (not program.checked)
    return program.world, len(program.steps), len(program.inputs), len(program.mesh), elements, options


def reductions(case: TypedCase) -> Iterator[TypedCase]:
    """Yield cases with one step, input, option or axis of a step less."""
    program = case.program
    for at in reversed(range(len(program.steps))):
        yield _without(case, at)
    for name in program.inputs:
        used = {value for step in program.steps for value in step.inputs}
        if name not in used and len(program.inputs) > 1:
            rest = {other: given for other, given in program.inputs.items() if other != name}
            blocks = {other: given for other, given in case.inputs.items() if other != name}
            yield replace(case, program=replace(program, inputs=rest), inputs=blocks)
    if not case.cotangents and len(program.results) > 1:
        yield from (replace(case, program=replace(program, results=(name,))) for name in program.results)
    if program.mapped is not None:
        yield replace(case, program=replace(program, mapped=None))
    if not program.automatic:
        yield replace(case, program=replace(program, automatic=True))
    for at, step in enumerate(program.steps):
        for axis in step.axes if len(step.axes) > 1 else ():
            fewer = replace(step, axes=tuple(other for other in step.axes if other != axis))
            yield replace(case, program=replace(program, steps=(*program.steps[:at], fewer, *program.steps[at + 1 :])))


def _without(case: TypedCase, at: int) -> TypedCase:
    """Return the case without a step; what took its result takes its first operand."""
    gone, program = case.program.steps[at], case.program
    instead = gone.inputs[0] if gone.inputs else None
    steps = tuple(
        replace(step, inputs=tuple((instead or name) if name == gone.output else name for name in step.inputs))
        for step in (*program.steps[:at], *program.steps[at + 1 :])
    )
    results = tuple(name for name in program.results if name != gone.output)
    cotangents = {name: blocks for name, blocks in case.cotangents.items() if name != gone.output}
    if case.cotangents and not cotangents and steps:
        cotangents, results = {steps[-1].output: next(iter(case.cotangents.values()))}, (steps[-1].output,)
    return replace(case, program=replace(program, steps=steps, results=results), cotangents=cotangents)


@dataclass
class Situations:
    """Counts which operations met which verdict of the checker."""

    seen: Counter[str] = field(default_factory=Counter)

    def add(self, meaning: TypedMeaning) -> None:
        """Count one case."""
        self.seen.update(clause.id for clause in speaking(meaning))

    def measured(self) -> dict[str, Covered]:
        """Return the share of clauses about types and transposes that spoke."""
        holes = tuple(clause.id for clause in CLAUSES if clause.id not in self.seen)
        return {"clauses of types": Covered(met=len(CLAUSES) - len(holes), feasible=len(CLAUSES), holes=holes)}


def _clauses(op: str, terms: Terms) -> tuple[TypedClause, ...]:
    del terms
    return TRANSPOSES if op == TRANSPOSED else TYPES


def _expected(ops: Sequence[str], suites: Sequence[str]) -> AbstractSet[str]:
    asked = ((TYPED, "types", TYPES), (TRANSPOSED, "transforms", TRANSPOSES))
    return {clause.id for op, suite, clauses in asked if op in ops and suite in suites for clause in clauses}


def _suite(name: str, summary: str, op: str, domain: Callable[[], Choice[TypedCase]]) -> DialectSuite[TypedCase]:
    return DialectSuite(name, summary, {op: domain()})


DIALECT: Final = Dialect(
    name=NAME,
    summary="Programs whose values have a type for each mesh axis, and their transposes.",
    case=TypedCase,
    id_of=typed_id,
    save=save_typed,
    load=load_typed,
    suites={
        "types": _suite("types", "Which programs are well typed, and what their values are.", TYPED, typed_cases),
        "transforms": _suite(
            "transforms", "What cotangents of results come to at the inputs.", TRANSPOSED, transposed_cases
        ),
    },
    mean=mean,
    facts=facts,
    clauses=_clauses,
    own=_clauses,
    speaking=lambda meaning: frozenset(clause.id for clause in speaking(meaning)),
    expected=_expected,
    dialogue=dialogue,
    outside=outside,
    probed=lambda claims, meaning: facts(meaning).op in claims,
    features={
        "steps": tuple(sorted(COLLECTIVES | set(LOCAL))),
        "checks": ("on", "off"),
        "casts": ("automatic", "written"),
        "mapped": ("all", "some"),
    },
    reductions=reductions,
    neutral=lambda case: iter(()),
    size=size,
    counting=Situations,
)
