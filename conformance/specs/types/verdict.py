"""The verdict on an observation of a typed case."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from conformance.cases.observation import Observation, RankError
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_program import COLLECTIVES
from conformance.judging.cause import error_of
from conformance.judging.clause import SILENT, Held
from conformance.judging.typed import TypedClause, not_implemented
from conformance.judging.typed_comparisons import accepted
from conformance.judging.verdict import Verdict
from conformance.reference.transforms.meaning import TypedMeaning
from conformance.specs.types.clauses import CLAUSES
from conformance.specs.types.jax_rules import DIFFERENCES, together, verdict

ANSWERED: Final = {
    "types": "types.C14",
    "transposed": "transposes.C14",
    "batched": "batches.C1",
    "lowered": "lowering.C1",
    "compiled": "lowering.C12",
    "pushed": "pushes.C1",
}
"""For each kind of case the clause that everything computed is asked by."""


def speaking(meaning: TypedMeaning) -> tuple[TypedClause, ...]:
    """Return the clauses that speak about a case, the most particular last."""
    return tuple(clause for clause in CLAUSES if clause.when(meaning))


def judge(meaning: TypedMeaning, seen: Observation, follows: Collection[str] = ()) -> Verdict:
    """Return what the clauses say. Who has no words for a program that is ill typed has not refused it.

    Of a program that is refused only refusal is asked; a legal one that raised has no values to compare. For a backend
    that ``follows`` a source what that source says otherwise is recorded, and nothing else is asked of the case. Such a
    one passes on what its framework says, so that a rule which the framework has not implemented is no verdict.
    """
    error = next((error for error in seen.errors if error is not None), None)
    if error is not None and error.category == "adapter":
        return Verdict(outcome="adapter_error", clauses={}, detail=error.message)
    asked = speaking(meaning)
    ended = error is not None and not seen.refused
    if error is not None and not ended and not_implemented(error):
        return _wordless(meaning, asked, seen, error, adapted=bool(follows))
    theirs = () if ended else follows  # a process that ends does not do what a source says
    if diverged := _diverged(meaning, asked, seen, theirs) or _refused_by_rule(meaning, asked, seen, theirs):
        return Verdict(outcome="passed", clauses=dict.fromkeys(diverged, "diverges"))
    legal = meaning.refused is None and meaning.no_rule is None
    refusable = all(clause.requirement == "may" for clause in asked)  # and so not to be ended with
    if error is not None and (legal or (ended and refusable)):
        return _errored(meaning, asked, seen)
    found = {check: check(meaning, seen) for check in {clause.check: None for clause in asked}}
    told = {clause: found[clause.check] for clause in asked if found[clause.check] != SILENT}
    held: dict[str, Held] = {clause.id: "broken" if problem else "held" for clause, problem in told.items()}
    broken = [(clause, problem) for clause, problem in told.items() if problem and clause.requirement != "may"]
    if not broken:
        return Verdict(outcome="passed", clauses=held)
    blame, detail = broken[-1]
    return Verdict(outcome="failed", clauses=held, blame=blame, detail=detail, error=error_of(seen))


def _wordless(
    meaning: TypedMeaning, asked: tuple[TypedClause, ...], seen: Observation, error: RankError, *, adapted: bool
) -> Verdict:
    """Return the verdict on who has no words for a case.

    Of a legal case that no claim leaves out it is a refusal, unless the framework that is ``adapted`` says so itself.
    """
    if adapted or meaning.refused is not None or meaning.no_rule is not None:
        return Verdict(outcome="unsupported", clauses={}, detail=error.message)
    judged = _errored(meaning, asked, seen)
    said = f"refused, and no claim leaves it out: {error.kind}: {error.message}"
    return replace(judged, outcome="failed", detail=said, refusal=True)


def _refused_by_rule(
    meaning: TypedMeaning, asked: Iterable[TypedClause], seen: Observation, follows: Collection[str]
) -> list[str]:
    """Return the general clauses about a program that a followed source refuses by a rule that is recorded of types.

    The rule holds whatever is asked of the program. Where it types a value otherwise that a later collective takes, who
    complains of that type has refused by it too.
    """
    if "jax" not in follows or not seen.raised or meaning.refused is not None:
        return []
    program = meaning.case.program
    for name in DIFFERENCES:
        theirs = verdict(program, together(name))
        if theirs is None or (_of_types(seen) and _taken_otherwise(meaning, theirs)):
            return [clause.id for clause in asked if clause.general]
    return []


def _of_types(seen: Observation) -> bool:
    told = " ".join(error.message.lower() for error in seen.errors if error is not None)
    return any(word in told for word in ("varying", "invariant", "replicated"))


def _taken_otherwise(meaning: TypedMeaning, theirs: Mapping[str, AxisType]) -> bool:
    steps = meaning.case.program.steps
    taken = {name for step in steps if step.op in COLLECTIVES for name in step.inputs}
    mine = meaning.types
    return any(step.output in taken and theirs[step.output] != mine.get(step.output) for step in steps)


def _diverged(
    meaning: TypedMeaning, asked: Iterable[TypedClause], seen: Observation, follows: Collection[str]
) -> list[str]:
    return [
        clause.id
        for clause in asked
        for each in clause.diverges
        if each.source in follows and clause.check(meaning, seen) and each.shown(meaning, seen)
    ]


def answering(meaning: TypedMeaning, asked: Sequence[TypedClause]) -> TypedClause:
    """Return the clause to blame where nothing was answered: who may refuse a program may not end with it."""
    demanding = [clause for clause in asked if clause.requirement != "may"]
    general = next(clause for clause in CLAUSES if clause.id == ANSWERED[meaning.case.kind])
    return demanding[-1] if demanding else general


def _errored(meaning: TypedMeaning, asked: tuple[TypedClause, ...], seen: Observation) -> Verdict:
    """Blame that it was refused, where that is asked about; else the most particular rule about its results."""
    detail = accepted(meaning, seen)
    blame = next((clause for clause in asked if clause.check is accepted), None) or answering(meaning, asked)
    return Verdict(
        outcome="errored", clauses={blame.id: "broken"}, blame=blame, detail=detail or "", error=error_of(seen)
    )
