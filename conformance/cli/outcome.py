"""The end of a run in words: outcomes and failing clauses of each backend, and the commands that show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import Any, Final

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from conformance.cases.escapes import printable
from conformance.report.failures.findings import Finding
from conformance.report.summary import BackendSummary, Report
from conformance.report.verdict import status_of, unshown
from conformance.runner.log.storage import stored
from conformance.runner.outcomes import OUTCOMES
from conformance.runner.records.record import Covered, Failure, Silence
from conformance.runner.result import Result
from conformance.runner.timings import HERE, THERE

SHOWN: Final = 4
"""Operations, clauses or dtypes that a line names; how many more there are it counts."""


STATUS: Final = {
    0: "passed: no must clause fails",
    1: "not conformant: a must clause fails",
    3: "incomplete: nothing is certified by this run",
}


def conclusion(report: Report) -> str:
    """Return the end of a run in one sentence."""
    status, verdicts = status_of(report), {backend.verdict for backend in report.backends}
    if status == 3:
        unsure = "inconclusive" in verdicts and "incomplete" not in verdicts
        return STATUS[3].replace("incomplete", "inconclusive") if unsure else STATUS[3]
    if status == 1:
        new = any(backend.verdict == "not_conformant" and not backend.known_only for backend in report.backends)
        return STATUS[1] if new else "failed: known failures are not as their entries say"
    known = " but known ones" if any(backend.known_only for backend in report.backends) else ""
    return f"{STATUS[0]}{known}{' in what was asked for' if 'partial' in verdicts else ''}"


def replay_command(directory: Path, failure: Failure) -> str:
    """Return the command line that runs the smallest case of a failure again."""
    return f"conformance replay {quote(str(directory / failure.file))} -b {quote(failure.backend)}"


def finding_command(directory: Path, found: Finding) -> str:
    """Return the command line that shows a finding again: its smallest case, or the cases of its sequence in order."""
    files = " ".join(quote(str(directory / file)) for file in found.sequence or (found.file,))
    return f"conformance replay {files} -b {quote(found.backend)}"


def as_data(result: Result, report: Report, directory: Path, page: Path | None) -> dict[str, Any]:
    """Return everything that ``show`` prints as plain data."""
    return {
        "status": status_of(report),
        "conclusion": conclusion(report),
        "basis": report.basis,
        "run": str(stored(directory / "run.jsonl")),
        "report": None if page is None else str(page),
        "verdicts": {backend.label: backend.title for backend in report.backends},
        "findings": [
            {**msgspec.to_builtins(found), "replay": finding_command(directory, found)} for found in report.findings
        ],
        "unrepeated": dict(result.unrepeated),
        "companies": msgspec.to_builtins(dict(result.companies)),
        "unjudged": {name: list(ops) for name, ops in result.unjudged.items() if ops},
        "undrawn": list(result.undrawn),
        "power": msgspec.to_builtins(dict(result.power)),
        "exercised": {
            name: {**msgspec.to_builtins(one), "met": one.met, "share": round(one.share, 4)}
            for name, one in result.exercised.items()
        },
        "repeated": msgspec.to_builtins(dict(result.repeated)),
        "flaky": [
            {"backend": backend.label, **msgspec.to_builtins(one)}
            for backend in report.backends
            for one in backend.flaky
        ],
        "resumed": result.resumed,
        "asked_again": result.asked_again,
        "differing": [record.case for record in result.differing],
        "seconds": round(result.seconds, 3),
        "backends": {
            name: {"outcomes": dict(counts), "silent": msgspec.to_builtins(result.silent.get(name, Silence()))}
            for name, counts in result.counts.items()
        },
        "failures": [_failure(failure, directory) for failure in result.failures],
        "known": [
            {**_failure(failure, directory), "expected": msgspec.to_builtins(failure.known)} for failure in result.known
        ],
        "unmet": [
            {
                "backend": record.backend,
                "case": record.case,
                "outcome": record.outcome,
                "blame": record.blame,
                "detail": record.detail,
                "expected": msgspec.to_builtins(record.expected),
            }
            for record in result.unmet
        ],
        "unexplained": [
            {"backend": record.backend, "case": record.case, "clause": record.blame, "requirement": record.requirement}
            for record in result.unexplained
        ],
        "never_exercised": list(result.never),
        "timings": {name: dict(spent) for name, spent in result.timings.items()},
        "coverage": msgspec.to_builtins(dict(result.coverage)),
    }


def _failure(failure: Failure, directory: Path) -> dict[str, Any]:
    return {
        "backend": failure.backend,
        "op": failure.op,
        "clause": failure.clause,
        "requirement": failure.requirement,
        "outcome": failure.outcome,
        "case": failure.case,
        "file": str(directory / failure.file),
        "cases": len(failure.explains),
        "minimal": failure.minimal,
        "alone": failure.alone,
        "error": failure.error,
        "detail": failure.detail,
        "replay": replay_command(directory, failure),
    }


def show(console: Console, result: Result, report: Report, directory: Path) -> None:
    """Print the table of outcomes, the findings with the commands that show them, and what is not known."""
    seen = [outcome for outcome in OUTCOMES if any(counts.get(outcome) for counts in result.counts.values())]
    table = Table("backend", *seen, title=f"{result.seconds:.1f} s", title_justify="left")
    for name, counts in result.counts.items():
        table.add_row(escape(name), *(str(counts.get(outcome, 0)) for outcome in seen))
    console.print(table)
    for line in (*_findings(report, directory), *_flaky(report), *_unmet(result), *_unknown(result)):
        console.print(escape(printable(line)))
    for name, seen_by in result.power.items():
        console.print(escape(printable(f"{name}: {seen_by}")))
    for backend in report.backends:
        console.print(escape(printable(f"{backend.label}: {_title(backend)}")))
    if report.basis:
        console.print(escape(report.basis))
    console.print(conclusion(report))


def show_timings(console: Console, result: Result) -> None:
    """Print where the seconds of each backend went."""
    table = Table("backend", *HERE, *(f"({name})" for name in THERE), title="seconds", title_justify="left")
    for name, spent in result.timings.items():
        table.add_row(escape(name), *(f"{spent[word]:.1f}" for word in (*HERE, *THERE)))
    console.print(table)
    console.print("in brackets: what the backend's processes did meanwhile; the others come to the seconds of the run")


def _title(backend: BackendSummary) -> str:
    """Return the verdict, with its reason where it is that nothing was decided."""
    reasons = (line for line in backend.why if backend.verdict == "inconclusive" and line.startswith(backend.title))
    return next(reasons, backend.title)


def _findings(report: Report, directory: Path) -> Iterator[str]:
    """Yield every finding: its cause, where it shows, and the command that shows its smallest case."""
    for found in report.findings:
        many = f"{found.cases} case{'' if found.cases == 1 else 's'}"
        kind = f"a {found.known.words} ({found.known.where})" if found.known else found.requirement
        yield f"{', '.join((found.backend, *found.others))}: {found.cause} ({kind}, {many})"
        breaks = f"; breaks {_some(found.clauses)}" if found.clauses else ""
        yield f"    in {_some(found.ops)}{breaks}; {_some(found.dtypes) or 'no dtype'}"
        yield f"    {found.detail}"
        if found.origin:
            yield f"    from {found.origin}"
        if found.known is None:
            yield f"    {finding_command(directory, found)}"


def _flaky(report: Report) -> Iterator[str]:
    """Yield every case that came to different outcomes, and how often to which."""
    for backend in report.backends:
        yield from (f"{backend.label}: {one.case} is flaky: {one.detail}" for one in backend.flaky)


def _some(words: Sequence[str]) -> str:
    more = len(words) - SHOWN
    return ", ".join(words[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def _unmet(result: Result) -> Iterator[str]:
    for record in result.unmet:
        if record.expected is not None:
            yield f"{record.expected.where}: {record.case} on {record.backend} {record.expected.says}"


def _in_company(result: Result) -> Iterator[str]:
    """Yield the cases that come to something else in company than alone."""
    for name, came in result.companies.items():
        yield from (f"{name}: {case} fails in company alone; the run is not complete" for case in came.only[:3])
        yield from (f"{name}: {case} is hidden by company; the run is not complete" for case in came.hidden[:3])


def _unknown(result: Result) -> Iterator[str]:
    """Yield what the run does not know, and why."""
    if result.unexplained:
        first, count = result.unexplained[0], len(result.unexplained)
        many = "1 failing case has" if count == 1 else f"{count} failing cases have"
        yield f"{many} no smaller one that stands for it, such as {first.case}: {first.detail}"
    for name, count in result.unrepeated.items():
        many = f"{count} case{'' if count == 1 else 's'}"
        yield f"{name}: {many} failed once after others and passed alone; no sequence makes that happen again"
    for name, repeated in result.repeated.items():
        yield f"{name}: {repeated}"
    yield from _in_company(result)
    if result.resumed:
        many = "1 record was" if result.resumed == 1 else f"{result.resumed} records were"
        yield f"{many} taken over from the log of an earlier run or of slices, {result.asked_again} of them asked again"
    for record in result.differing:
        yield f"{record.backend}: {record.case} is {record.outcome} now; {record.note}: start anew without --resume"
    if larger := [failure.case for failure in result.failures if not failure.minimal]:
        many = "1 failing case is" if len(larger) == 1 else f"{len(larger)} failing cases are"
        yield f"{many} not as small as can be, for the search ended before: {_some(larger)}; go on with --resume"
    if result.undrawn:
        yield f"the time budget was spent before all cases of {_some(result.undrawn)} were drawn"
    if result.never:
        many = f"{len(result.never)} clauses, " if len(result.never) > SHOWN else ""
        yield f"never exercised: {many}{_some(result.never)}; draw more with --examples"
    for name, exercised in result.exercised.items():
        if exercised.promised:
            yield f"{name}: {exercised}"
    for name, silent in result.silent.items():
        yield from (f"{name}: {line}" for line in unshown(silent))
    yield from (_coverage(name, covered) for name, covered in result.coverage.items())
    yield from _owed(result)


SAID: Final = {
    "adapter_error": "ended in an exception of the adapter's own lines, which says nothing of what it adapts: mend it",
    "not_run": "not run; `conformance run --resume` does not repeat what was judged",
}
"""What is told of cases that were to be judged and were not, by outcome."""


def _owed(result: Result) -> Iterator[str]:
    """Yield why the run is incomplete, where cases that were to be judged were not."""
    for outcome, said in SAID.items():
        if many := sum(counts.get(outcome, 0) for counts in result.counts.values()):
            was = ("was " if many == 1 else "were ") * (outcome == "not_run")
            yield f"{many} case{'s' * (many > 1)} {was}{said}"
            firsts = (first for first in result.owed if first.outcome == outcome)
            yield from (f"{first.backend}: the first of them is {first.case}: {first.detail}" for first in firsts)


def _coverage(name: str, covered: Covered) -> str:
    share = f"{covered.met} of {covered.feasible} feasible {name} of case features met"
    if name == "trigrams":
        share = f"{covered.met} of {covered.feasible} trigrams of step classes met"
    holes = f"; holes: {', '.join(covered.holes)}" if covered.holes else ""
    return f"{share} ({covered.met / max(covered.feasible, 1):.1%}){holes}"
