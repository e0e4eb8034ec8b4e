"""Who conforms: the one word on a backend, and the sentences that say why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from conformance.cases.declarations.number_model import KINDS, number_model
from conformance.report.counts.columns import Column
from conformance.report.counts.matrix import Key
from conformance.report.evidence import Evidence, evidence, missing, scope_of
from conformance.report.inputs.specification import ClauseText
from conformance.report.summary import BackendSummary, ExercisedClaims, FlakyCase, Report, Verdict
from conformance.runner.backend.promises import Promises
from conformance.runner.backend.silent_clauses import never_seen
from conformance.runner.log.environment import digests
from conformance.runner.outcomes import FAILING, OUTCOMES, UNJUDGED
from conformance.runner.records.exercised import Exercised
from conformance.runner.records.power import Power
from conformance.runner.records.record import Silence
from conformance.runner.shown import power_of

TITLES: Final[dict[Verdict, str]] = {
    "conformant": "Conformant",
    "not_conformant": "Not conformant",
    "incomplete": "Incomplete run",
    "inconclusive": "Inconclusive",
    "partial": "Passed what was asked for",
}

OWN_REFERENCE: Final = "answered by the suite's own reference"
"""What a worker says in a description of operations that are (``backends.own_reference``)."""

SHOWN: Final = 4
"""Clauses that a sentence names; how many more there are it counts."""


def backend_summary(
    column: Column, counts: Mapping[Key, Counter[str]], specification: Sequence[ClauseText]
) -> BackendSummary:
    """Return what one backend's cases amount to.

    It conforms when nothing of its runs is missing, every operation of the specification was asked for in every suite,
    no *must* clause is to blame for anything, every operation that it claims passed a legal case with a value, and
    every *must* clause was shown to hold or lies outside its claims. One that was asked for some of that, and else
    would conform, passed what it was asked for.
    """
    seen = evidence(column, counts, specification)
    outcomes = seen.outcomes
    asked = sum(n for outcome, n in outcomes.items() if outcome not in UNJUDGED)
    return BackendSummary(
        label=column.label,
        name=column.entry.name,
        runs=tuple(run.name for run in column.runs),
        verdict=_verdict(seen),
        title=_title(seen),
        why=tuple(_why(seen)),
        complete=seen.complete,
        must=seen.clauses["must"],
        should=seen.clauses["should"],
        may=seen.clauses["may"],
        cases=len(column.records),
        failing=sum(outcomes[outcome] for outcome in FAILING),
        known=sum(column.known.get(case, set()) >= blamed.keys() for case, blamed in column.blamed.items()),
        known_only=seen.failing and not seen.new,
        outcomes={outcome: outcomes[outcome] for outcome in OUTCOMES if outcomes[outcome]},
        seconds=round(column.seconds, 3),
        cases_per_second=round(asked / column.seconds, 1) if asked and column.seconds else None,
        unstable=column.unstable,
        under_claimed=dict(Counter(record.op for record in column.records if record.under_claimed)),
        description=column.entry.description,
        claims=column.entry.claims,
        unrepeated=sum(record.unrepeated is not None for record in column.records),
        flaky=tuple(_flaky(column)),
        guarantees=_guarantees(column, seen.specification),
        number_model=_number_model(column),
        power=_power(seen),
        exercised=_by_operation(_exercised(seen)),
        undecided=_left(seen),
        companies=seen.tally.companies,
    )


def _flaky(column: Column) -> Iterable[FlakyCase]:
    for record in column.records:
        if record.outcome == "flaky":
            times = sum(record.came_to.values())
            yield FlakyCase(
                case=record.case, op=record.op, came_to=record.came_to, times=times, detail=record.detail or ""
            )


def _verdict(seen: Evidence) -> Verdict:
    if seen.failing:
        return "not_conformant"
    if not seen.complete:
        return "incomplete"
    if _left(seen) or not seen.clauses["must"].held:
        return "inconclusive"
    return "partial" if seen.missing or seen.suites_left or seen.apart else "conformant"


def _left(seen: Evidence) -> bool:
    """Return whether some operation or clause was to be shown and was not.

    What known failures alone keep from being shown stands in their entries.
    """
    known = seen.failing and not seen.new
    return bool(seen.unjudged or seen.unshown) or any(
        not known or seen.states[clause] != "shadowed" for clause in seen.open
    )


def _title(seen: Evidence) -> str:
    verdict = _verdict(seen)
    if verdict in ("conformant", "partial"):
        narrow = seen.clauses["must"].unsupported or seen.unclaimed or seen.outcomes["unsupported"]
        return TITLES[verdict] + (" within its claims" if narrow else "")
    return TITLES[verdict] + (", known failures only" if seen.failing and not seen.new else "")


def status_of(report: Report) -> int:
    """Return the exit status: 0 nothing new fails in what was asked for, 1 something does, 3 too little is known."""
    if any(not one.expected.met for one in report.known):
        return 1
    if any(b.verdict == "not_conformant" and not b.known_only for b in report.backends):
        return 1
    shown = (b.complete and not b.undecided for b in report.backends)
    whole = (
        b.verdict in ("conformant", "partial") or (b.known_only and each)
        for b, each in zip(report.backends, shown, strict=True)
    )
    return 0 if report.backends and all(whole) else 3


def _power(seen: Evidence) -> Power | None:
    """Return what the cases of all runs can see together; of another version's what its one run says of itself."""
    runs, name = seen.column.runs, seen.column.entry.name
    if any((run.header.spec_digest, run.header.reference_digest) != digests() for run in runs):
        footer = runs[0].footer
        return footer.power.get(name) if len(runs) == 1 and footer is not None else None
    return power_of(seen.column.entry.claims, seen.column.records)


def _exercised(seen: Evidence) -> Exercised | None:
    """Return what of its claims the records of all runs show; of records that do not say so, what a run said."""
    runs, name = seen.column.runs, seen.column.entry.name
    met = +seen.tally.met
    if not met and seen.tally.ops & set(seen.column.entry.claims):
        footer = runs[0].footer
        return footer.exercised.get(name) if len(runs) == 1 and footer is not None else None
    return Promises(seen.column.entry.claims).exercised(met, {op for run in runs for op in run.header.ops})


def _by_operation(exercised: Exercised | None) -> ExercisedClaims | None:
    """Return what was exercised with what is missing by operation, whose name stands once."""
    if exercised is None:
        return None
    missing: dict[str, tuple[str, ...]] = {}
    for name in exercised.missing:
        op, _, what = name.partition(" ")
        missing[op] = (*missing.get(op, ()), what.removeprefix("with "))
    return ExercisedClaims(promised=exercised.promised, exercised=exercised.met, missing=missing)


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


def not_asked(column: Column, specification: Sequence[ClauseText]) -> list[str]:
    """Return the operations of the specification that the runs of a backend were not asked for."""
    return missing(specification, scope_of(column, specification))


def _why(seen: Evidence) -> Iterable[str]:
    column = seen.column
    for run in column.runs:
        if run.why_incomplete and seen.missed(run):
            yield f"Incomplete: {run.why_incomplete}."
    if seen.outcomes["not_run"]:
        first = next(record.detail for record in column.records if record.outcome == "not_run")
        many = seen.outcomes["not_run"]
        yield f"Incomplete: {_cases(many)} {'was' if many == 1 else 'were'} not run: {first}."
    if seen.outcomes["adapter_error"]:
        yield f"Incomplete: in {_cases(seen.outcomes['adapter_error'])} the adapter's own lines raised an exception."
    if seen.outcomes["flaky"]:
        yield f"Flaky: {_cases(seen.outcomes['flaky'])} came to different outcomes, where nothing differed."
    if _verdict(seen) == "inconclusive" or (seen.failing and not seen.new and _left(seen)):
        yield f"Inconclusive{' beside the known failures' if seen.failing else ''}: {'; '.join(_undecided(seen))}."
    if OWN_REFERENCE in column.entry.description:
        yield f"Answered by the suite's own reference: {column.entry.description[OWN_REFERENCE]}."
    yield from _about_must(seen)
    yield from _after_others(seen)
    if seen.suites_left:
        yield f"Suites not asked for: {', '.join(seen.suites_left)}."
    if seen.missing:
        yield f"Not asked for: {', '.join(seen.missing)}."
    if seen.apart:
        yield f"Not asked for together: {_first([f'{suite} of {op}' for suite, op in seen.apart])}."
    if seen.unclaimed:
        yield f"Not claimed: {', '.join(seen.unclaimed)}."
    exercised = _exercised(seen)
    if exercised is not None and exercised.promised:
        yield f"{exercised}."
    yield from unshown(_silent(column, seen.open))


def _undecided(seen: Evidence) -> Iterable[str]:
    """Yield why nothing is certified, although nothing fails."""
    if not seen.clauses["must"].held:
        yield "no must clause was shown to hold"
    elif drawn := [clause for clause in seen.open if clause not in seen.undrawn]:
        yield f"nothing was shown about {_first(drawn)}, whose cases its claims do not leave out"
    if seen.clauses["must"].held and seen.undrawn:
        yield f"no case about {_first(seen.undrawn)} was drawn; draw more with --examples"
    if seen.unjudged:
        yield f"no case of {', '.join(seen.unjudged)} was judged, claimed or asked for by name"
    if seen.unshown:
        yield (
            f"no legal case of {_first(seen.unshown)} passed with a value: what was refused, or had no element, shows "
            "nothing by itself"
        )


def _about_must(seen: Evidence) -> Iterable[str]:
    """Yield what the *must* clauses came to."""
    column, must = seen.column, seen.clauses["must"]
    if not column.records:
        yield "No case was run."
    elif must.broken:
        share = "all" if must.known == must.broken else f"{must.known} of them"
        known = f", {share} by known failures alone" if must.known else ""
        yield f"{must.broken} of {must.total} must clauses {'is' if must.broken == 1 else 'are'} broken{known}."
    elif any(record.outcome in FAILING and record.case not in column.blamed for record in column.records):
        yield "There are failures that no clause explains; until one does they count like a broken must."
    elif must.held:
        outside = seen.outside
        left_out = f"; {outside} more are about what it does not claim" if outside else ""
        yield f"No must clause is broken; {must.held} of {must.total - outside} were shown to hold{left_out}."


def _after_others(seen: Evidence) -> Iterable[str]:
    """Yield what fails only after other cases, and what was asked for and not judged."""
    column = seen.column
    once = sum(record.unrepeated is not None and record.outcome != "flaky" for record in column.records)
    if once:
        yield f"{_cases(once)} failed after others and passed alone in a fresh process."
    yield from _in_company(seen)
    if column.sequences:
        many = len(column.sequences)
        yield f"{many} sequence{'s make' if many > 1 else ' makes'} a case fail that passes alone."


def _in_company(seen: Evidence) -> Iterable[str]:
    """Yield what being asked about together came to, where any of it is no plain verdict."""
    came = seen.tally.companies
    if came is not None and came.only:
        first = next(record for record in seen.column.records if record.case == came.only[0])
        assert first.company is not None
        ended = f"{first.company.outcome} in a company of {first.company.of}, seen {first.company.times} times"
        yield f"{_cases(len(came.only))} failed in company alone, such as {came.only[0]}: {ended}."
    if came is not None and came.hidden:
        yield f"Company hid what {_cases(len(came.hidden))} of the sample did alone, such as {came.hidden[0]}."


def unshown(silent: Silence) -> Iterable[str]:
    """Yield what no case within the claims said anything about, in a sentence each."""
    if silent.clauses:
        yield f"Every case about {_many(silent.clauses)} of operations that it claims was outside its claims."
    if silent.answers:
        yield f"No answer of it has what {_many(silent.answers)} are about."
    if silent.suites:
        yield f"No case of {', '.join(silent.suites)} was judged."
    if silent.words:
        yield f"Declared of its numbers and never seen: {', '.join(silent.words)}."


def _cases(many: int) -> str:
    return f"{many} case{'' if many == 1 else 's'}"


def _many(clauses: Sequence[str]) -> str:
    return f"{len(clauses)} must clause{'s' * (len(clauses) > 1)} ({_first(clauses)})"


def _first(clauses: Sequence[str]) -> str:
    more = len(clauses) - SHOWN
    return ", ".join(clauses[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def _silent(column: Column, told: Collection[str]) -> Silence:
    """Return what none of a backend's runs says of it, but for the clauses ``told`` already."""
    silences = [run.footer.silent.get(column.entry.name, Silence()) for run in column.runs if run.footer]
    judged = [record for record in column.records if record.outcome not in UNJUDGED]
    spoke = {clause for record in judged for clause in record.clauses}.union(told)
    shown = {record.suite for record in judged}
    clauses = {clause for silent in silences for clause in silent.clauses}
    unheard: dict[str, set[str]] = {}
    for suite, names in (each for silent in silences for each in silent.suites.items()):
        unheard.setdefault(suite, set()).update(names)
    # Where another run judged a case of a suite, its clauses are silent one by one.
    clauses = clauses.union(*(names for suite, names in unheard.items() if suite in shown))
    return Silence(
        clauses=tuple(sorted(clauses - spoke)),
        answers=tuple(sorted({clause for silent in silences for clause in silent.answers} - spoke)),
        suites={suite: tuple(sorted(names - spoke)) for suite, names in sorted(unheard.items()) if suite not in shown},
        words=never_seen(_chosen(column), (each for record in judged for each in record.shown)) if silences else (),
    )
