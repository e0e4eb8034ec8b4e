"""Who conforms: the one word on a backend, and the sentences that say why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from conformance.cases.declarations.number_model import KINDS, number_model
from conformance.judging.clause import Requirement
from conformance.report.counts.columns import Column
from conformance.report.counts.matrix import Key
from conformance.report.counts.tally import State, freeze, state
from conformance.report.inputs.specification import ClauseText
from conformance.report.summary import BackendSummary, ClauseCounts, ExercisedClaims, Report, Verdict
from conformance.runner.coverage.exercised import Exercised, joined
from conformance.runner.coverage.power import Power
from conformance.runner.coverage.silent import never_seen
from conformance.runner.log.log import Silence
from conformance.runner.outcomes import FAILING, OUTCOMES, OWED, UNJUDGED

TITLES: Final[dict[Verdict, str]] = {
    "conformant": "Conformant",
    "not_conformant": "Not conformant",
    "incomplete": "Incomplete run",
    "inconclusive": "Inconclusive",
    "partial": "Passed what was asked for",
}

SHOWN: Final = 4
"""Clauses that a sentence names; how many more there are it counts."""

_KEYS: Final[dict[State, str]] = {
    "fail": "broken", "should_fail": "broken", "known": "broken", "differs": "broken", "pass": "held",
    "shadowed": "shadowed", "unsupported": "unsupported", "not_run": "not_run",
}  # fmt: skip


def backend_summary(
    column: Column, counts: Mapping[Key, Counter[str]], specification: Sequence[ClauseText]
) -> BackendSummary:
    """Return what one backend's cases amount to.

    It conforms when the run is whole, every operation of the specification was asked for, no *must* clause is to
    blame for anything, and every *must* clause was shown to hold or lies outside its claims. One that was asked for
    some of the operations, and else would conform, passed what it was asked for.
    """
    specification = _held_to(specification, column.entry.guarantees)
    states = _clause_states(counts, specification)
    scope = _scope(column, specification)
    per = {level: _clause_counts(level, states, specification, scope) for level in ("must", "should", "may")}
    outcomes: Counter[str] = Counter(record.outcome for record in column.records)
    asked = sum(n for outcome, n in outcomes.items() if outcome not in UNJUDGED)
    complete = all(run.why_incomplete is None for run in column.runs) and not any(outcomes[owed] for owed in OWED)
    unclaimed = _unclaimed(column, scope)
    never_drawn = {clause for run in column.runs if run.footer for clause in run.footer.clauses_never_exercised}
    open_clauses = _open(column, states, specification, scope, never_drawn)
    failing = any(failure.requirement == "must" for _, failure in column.failures)
    failing |= any(one.requirement == "must" for _, one in column.sequences)
    new = any(words["must"] for words in counts.values())
    new |= any(failure.requirement == "must" and failure.known is None for _, failure in column.failures)
    new |= any(one.requirement == "must" and one.known is None for _, one in column.sequences)
    failing |= new
    verdict: Verdict
    if failing:
        verdict = "not_conformant"
    elif not complete:
        verdict = "incomplete"
    elif open_clauses or not per["must"].held or _unjudged(column):
        verdict = "inconclusive"
    else:
        verdict = "partial" if _missing(specification, scope) else "conformant"
    within = verdict in ("conformant", "partial") and (per["must"].unsupported or unclaimed or outcomes["unsupported"])
    return BackendSummary(
        label=column.label,
        name=column.entry.name,
        runs=tuple(run.name for run in column.runs),
        verdict=verdict,
        title=TITLES[verdict]
        + (" within its claims" if within else ", known failures only" if failing and not new else ""),
        why=tuple(_why(column, per["must"], outcomes, scope, unclaimed, open_clauses, specification)),
        complete=complete,
        must=per["must"],
        should=per["should"],
        may=per["may"],
        cases=len(column.records),
        failing=sum(outcomes[outcome] for outcome in FAILING),
        known=sum(column.known.get(case, set()) >= blamed.keys() for case, blamed in column.blamed.items()),
        known_only=failing and not new,
        outcomes={outcome: outcomes[outcome] for outcome in OUTCOMES if outcomes[outcome]},
        seconds=round(column.seconds, 3),
        cases_per_second=round(asked / column.seconds, 1) if asked and column.seconds else None,
        unstable=column.unstable,
        under_claimed=dict(Counter(record.op for record in column.records if record.under_claimed)),
        description=column.entry.description,
        claims=column.entry.claims,
        unrepeated=sum(record.unrepeated is not None for record in column.records),
        guarantees=_guarantees(column, specification),
        number_model=_number_model(column),
        power=_power(column),
        exercised=_by_operation(_exercised(column)),
    )


def status_of(report: Report) -> int:
    """Return the exit status: 0 nothing new fails in what was asked for, 1 something does, 3 too little is known."""
    if any(not one.expected.met for one in report.known):
        return 1
    if any(b.verdict == "not_conformant" and not b.known_only for b in report.backends):
        return 1
    whole = (b.verdict in ("conformant", "partial") or (b.known_only and b.complete) for b in report.backends)
    return 0 if report.backends and all(whole) else 3


def _power(column: Column) -> Power | None:
    footers = [run.footer for run in column.runs]
    return footers[0].power.get(column.entry.name) if len(footers) == 1 and footers[0] is not None else None


def _exercised(column: Column) -> Exercised | None:
    name = column.entry.name
    return joined(run.footer.exercised[name] for run in column.runs if run.footer and name in run.footer.exercised)


def _by_operation(exercised: Exercised | None) -> ExercisedClaims | None:
    """Return what was exercised with what is missing by operation, whose name stands once."""
    if exercised is None:
        return None
    missing: dict[str, tuple[str, ...]] = {}
    for name in exercised.missing:
        op, _, what = name.partition(" ")
        missing[op] = (*missing.get(op, ()), what.removeprefix("with "))
    return ExercisedClaims(promised=exercised.promised, exercised=exercised.met, missing=missing)


def _held_to(specification: Sequence[ClauseText], given: Sequence[str]) -> list[ClauseText]:
    """Return the specification as a backend that gives some guarantees is held to it."""
    return [
        msgspec.structs.replace(text, requirement="must") if text.guarantee in given else text for text in specification
    ]


def _guarantees(column: Column, specification: Iterable[ClauseText]) -> dict[str, str]:
    """Return, for each guarantee, whether it is given and what the cases that its clause speaks about showed."""
    found = {}
    for text in (text for text in specification if text.guarantee is not None):
        spoke = [record.clauses[text.id] for record in column.records if text.id in record.clauses]
        broken, given = spoke.count("broken"), text.guarantee in column.entry.guarantees
        seen = f"broken in {broken} of {len(spoke)} cases" if broken else f"held in all {len(spoke)} cases"
        but = "" if given or broken or not spoke else ", so it might be given"
        found[str(text.guarantee)] = f"{'given' if given else 'not given'}; {seen if spoke else 'no case'}{but}"
    return found


def _chosen(column: Column) -> tuple[tuple[str, str, str], ...]:
    return number_model(column.entry.number_model).chosen


def _number_model(column: Column) -> dict[str, str]:
    """Return, for each kind of choice about numbers, the words declared for dtypes, and how many cases showed each.

    A kind of which nothing is declared has its first word.
    """
    showed = Counter(each for record in column.records for each in record.shown)
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for dtype, kind, word in _chosen(column):
        many = showed[f"{dtype} {kind} {word}"]
        seen = f"seen in {many} case{'s' * (many != 1)}" if many else "never seen"
        found[kind].append(f"{word} for {dtype} ({seen})")
    return {kind: ", ".join(words) or next(iter(KINDS[kind])) for kind, words in found.items()}


def _clause_states(counts: Mapping[Key, Counter[str]], specification: Iterable[ClauseText]) -> dict[str, State]:
    """Return the state of each clause over all operations."""
    words: dict[str, Counter[str]] = {}
    for (_, clause, _), counted in counts.items():
        if clause is not None:
            words.setdefault(clause, Counter()).update(counted)
    return {text.id: state(freeze(words.get(text.id, {}))) for text in specification}


def _scope(column: Column, specification: Sequence[ClauseText]) -> frozenset[str]:
    """Return the operations the runs were asked for; a header without any means all."""
    every = frozenset(text.op for text in specification if not text.shared)
    asked = [frozenset(run.header.ops) or every for run in column.runs]
    return frozenset().union(*asked)


def _missing(specification: Sequence[ClauseText], scope: frozenset[str]) -> list[str]:
    return sorted({text.op for text in specification if not text.shared} - scope)


def not_asked(column: Column, specification: Sequence[ClauseText]) -> list[str]:
    """Return the operations of the specification that the runs of a backend were not asked for."""
    return _missing(specification, _scope(column, specification))


def _unjudged(column: Column) -> list[str]:
    """Return the operations that a run was asked for by name, and of which it judged no case of the backend."""
    return sorted({op for run in column.runs if run.footer for op in run.footer.unjudged.get(column.entry.name, ())})


def _unclaimed(column: Column, scope: frozenset[str]) -> list[str]:
    """Return the operations that are not claimed; no claim is about schedules, which are asked of whoever has some."""
    asked = {record.op for record in column.records if record.outcome not in UNJUDGED and not record.under_claimed}
    return sorted(scope - set(column.entry.claims) - asked) if column.entry.claims else []


def _clause_counts(
    level: Requirement, states: Mapping[str, State], specification: Iterable[ClauseText], scope: frozenset[str]
) -> ClauseCounts:
    listed = [text for text in specification if _level(text, states) == level and (text.shared or text.op in scope)]
    known = sum(states[text.id] == "known" for text in listed)
    return ClauseCounts(**Counter(_KEYS[states[text.id]] for text in listed), known=known)


def _level(text: ClauseText, states: Mapping[str, State]) -> Requirement:
    """Return what a clause asks of a backend: nothing but a *may* where it differs with a source that it follows."""
    return "may" if states[text.id] == "differs" else text.requirement


def _open(
    column: Column,
    states: Mapping[str, State],
    specification: Sequence[ClauseText],
    scope: frozenset[str],
    never_drawn: Collection[str],
) -> list[str]:
    """Return the *must* clauses that nothing was shown about, although the backend claims all they need.

    Where it leaves cases out of its claims, a clause that never spoke may speak about those alone; one of which no case
    was drawn at all may speak about others. Of a shared clause nothing is known where not all operations were asked
    for: those that were may have no part in it.
    """
    narrow = bool(_missing(specification, scope))
    refusing = {record.op for record in column.records if record.outcome == "unsupported"}
    refusing |= set(_unclaimed(column, scope))
    return [
        text.id
        for text in specification
        if text.requirement == "must"
        and (text.shared or text.op in scope)
        and (states[text.id] == "shadowed" or states[text.id] == "not_run")
        and not (
            states[text.id] == "not_run"
            and text.id not in never_drawn
            and (refusing or narrow if text.shared else text.op in refusing)
        )
    ]


def _why(
    column: Column,
    must: ClauseCounts,
    outcomes: Mapping[str, int],
    scope: frozenset[str],
    unclaimed: Sequence[str],
    open_clauses: Sequence[str],
    specification: Sequence[ClauseText],
) -> Iterable[str]:
    for run in column.runs:
        if run.why_incomplete:
            yield f"Incomplete: {run.why_incomplete}."
    if outcomes.get("not_run"):
        yield f"Incomplete: {outcomes['not_run']} cases were not run."
    if outcomes.get("adapter_error"):
        yield f"Incomplete: in {outcomes['adapter_error']} cases the adapter's own lines raised an exception."
    if not column.records:
        yield "No case was run."
    elif must.broken:
        share = "all" if must.known == must.broken else f"{must.known} of them"
        known = f", {share} by known failures alone" if must.known else ""
        yield f"{must.broken} of {must.total} must clauses {'is' if must.broken == 1 else 'are'} broken{known}."
    elif any(record.outcome in FAILING and record.case not in column.blamed for record in column.records):
        yield "There are failures that no clause explains; until one does they count like a broken must."
    elif must.held:
        yield f"No must clause is broken; {must.held} of {must.total} were shown to hold."
    yield from _after_others(column)
    missing = _missing(specification, scope)
    if missing:
        yield f"Not asked for: {', '.join(missing)}."
    if unclaimed:
        yield f"Not claimed: {', '.join(unclaimed)}."
    if open_clauses and column.records:
        yield f"Nothing shown about {_first(open_clauses)}."
    exercised = _exercised(column)
    if exercised is not None and exercised.promised:
        yield f"{exercised}."
    yield from unshown(_silent(column, open_clauses))


def _after_others(column: Column) -> Iterable[str]:
    """Yield what fails only after other cases, and what was asked for and not judged."""
    once = sum(record.unrepeated is not None for record in column.records)
    if once:
        yield f"{once} case{'' if once == 1 else 's'} failed after others and passed alone in a fresh process."
    if column.sequences:
        yield f"{len(column.sequences)} sequences of cases make a case fail that passes alone."
    if _unjudged(column):
        yield f"Claimed or asked for by name, and judged by no case: {', '.join(_unjudged(column))}."


def unshown(silent: Silence) -> Iterable[str]:
    """Yield what no case within the claims said anything about, in a sentence each."""
    if silent.clauses:
        many = "must clauses of operations that it claims" if len(silent.clauses) > 1 else "must clause"
        yield f"No case within its claims is about {len(silent.clauses)} {many}: {_first(silent.clauses)}."
    if silent.suites:
        yield f"No case of {', '.join(silent.suites)} is within its claims."
    if silent.words:
        yield f"Declared of its numbers and never seen: {', '.join(silent.words)}."


def _first(clauses: Sequence[str]) -> str:
    more = len(clauses) - SHOWN
    return ", ".join(clauses[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def _silent(column: Column, told: Collection[str]) -> Silence:
    """Return what none of a backend's runs says of it, but for the clauses ``told`` already."""
    silences = [run.footer.silent.get(column.entry.name, Silence()) for run in column.runs if run.footer]
    judged = [record for record in column.records if record.outcome not in UNJUDGED]
    spoke = {clause for record in judged for clause in record.clauses}.union(told)
    shown = {record.suite for record in judged}
    return Silence(
        clauses=tuple(sorted({clause for silent in silences for clause in silent.clauses} - spoke)),
        suites=tuple(sorted({suite for silent in silences for suite in silent.suites} - shown)),
        words=never_seen(_chosen(column), (each for record in judged for each in record.shown)) if silences else (),
    )
