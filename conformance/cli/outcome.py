"""The end of a run in words: outcomes and failing clauses of each backend, and the commands that show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import Any

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from conformance.report.verdict import unshown
from conformance.runner.log import Failure, Silence
from conformance.runner.outcomes import OUTCOMES, OWED
from conformance.runner.result import Result

STATUS = {
    0: "passed: no must clause fails",
    1: "not conformant: a must clause fails",
    3: "incomplete: nothing is certified by this run",
}


def conclusion(result: Result) -> str:
    """Return the end of a run in one sentence."""
    if result.unmet and not result.breaks_must:
        return "failed: known failures are not as their entries say"
    known = any(failure.requirement == "must" for failure in result.known)
    return STATUS[result.status] + (" but known ones" if known and result.status == 0 else "")


def replay_command(directory: Path, failure: Failure) -> str:
    """Return the command line that runs the smallest case of a failure again."""
    return f"conformance replay {quote(str(directory / failure.file))} -b {quote(failure.backend)}"


def as_data(result: Result, directory: Path, report: Path | None) -> dict[str, Any]:
    """Return everything that ``show`` prints as plain data."""
    return {
        "status": result.status,
        "run": str(directory / "run.jsonl"),
        "report": str(report) if report else None,
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
        "pairwise": dict(result.pairwise),
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
        "detail": failure.detail,
        "replay": replay_command(directory, failure),
    }


def show(console: Console, result: Result, directory: Path) -> None:
    """Print the table of outcomes, every failing clause with its replay command, and the known failures."""
    seen = [outcome for outcome in OUTCOMES if any(counts.get(outcome) for counts in result.counts.values())]
    table = Table("backend", *seen, title=f"{result.seconds:.1f} s", title_justify="left")
    for name, counts in result.counts.items():
        table.add_row(escape(name), *(str(counts.get(outcome, 0)) for outcome in seen))
    console.print(table)
    for failure in sorted(result.failures, key=lambda f: (f.backend, f.requirement != "must", f.op, f.clause)):
        console.print(
            escape(
                f"{failure.backend}: {failure.op} breaks {failure.clause} ({failure.requirement}, {failure.outcome}, "
                f"{len(failure.explains)} cases): {failure.detail}\n    {replay_command(directory, failure)}"
            )
        )
    for failure in result.known:
        if failure.known is not None:
            many = f"{failure.outcome}, {len(failure.explains)} cases"
            console.print(
                escape(
                    f"{failure.backend}: {failure.op} breaks {failure.clause} ({many}), a {failure.known.words} "
                    f"({failure.known.where})"
                )
            )
    for record in result.unmet:
        if record.expected is not None:
            console.print(escape(f"{record.expected.where}: {record.case} on {record.backend} {record.expected.says}"))
    if result.unexplained:
        first, count = result.unexplained[0], len(result.unexplained)
        console.print(
            escape(
                f"{count} failing cases have no smaller one that stands for them, such as {first.case}: {first.detail}"
            )
        )
    if result.never:
        console.print(escape(f"never exercised: {', '.join(result.never)}; draw more with --examples"))
    for name, silent in result.silent.items():
        for line in unshown(silent):
            console.print(escape(f"{name}: {line}"))
    if result.pairwise:
        console.print(escape(_coverage(result.pairwise)))
    for line in _owed(result):
        console.print(line)
    console.print(conclusion(result))


def _owed(result: Result) -> Iterator[str]:
    """Yield why the run is incomplete, where cases that were to be judged were not."""
    owed = {outcome: sum(counts.get(outcome, 0) for counts in result.counts.values()) for outcome in OWED}
    if owed["adapter_error"]:
        yield (
            f"{owed['adapter_error']} cases ended in an exception of the adapter's own lines, which says nothing of "
            "what it adapts: mend the adapter"
        )
    if owed["not_run"]:
        yield f"{owed['not_run']} cases were not run; `conformance run --resume` does not repeat what was judged"


def _coverage(pairwise: Mapping[str, tuple[int, int]]) -> str:
    met, all_pairs = (sum(column) for column in zip(*pairwise.values(), strict=True))
    least = min(pairwise, key=lambda name: pairwise[name][0] / max(pairwise[name][1], 1))
    return (
        f"pairwise coverage: {met} of {all_pairs} pairs of values met ({met / max(all_pairs, 1):.0%}); "
        f"least in {least}: {pairwise[least][0]} of {pairwise[least][1]}"
    )
