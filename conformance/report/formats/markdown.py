"""The report as Markdown, for a pull request or a README."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from conformance.cases.escapes import printable
from conformance.report.counts.numbers import table
from conformance.report.counts.placements import table as steps
from conformance.report.counts.topics import table as topics
from conformance.report.failures.findings import Finding
from conformance.report.formats.markdown_text import MarkdownText, code, escaped, joined, link, marked
from conformance.report.formats.words import (
    FLAKY,
    GLYPHS,
    STEPS,
    TOPICS,
    VERDICT_GLYPHS,
    WORDS,
    figure,
    findings_of,
    held_of,
    power_of,
)
from conformance.report.summary import MARK, Bucket, Report
from conformance.runner.records.known import Expected

SHOWN: Final = 20
"""Findings that a summary names."""


def as_markdown(report: Report, folder: str = "") -> str:
    """Return the report as Markdown; replay commands name case files in ``folder``."""
    return "\n".join(_lines(report, folder)) + "\n"


def summary(report: Report) -> str:
    """Return the verdicts and the first findings as Markdown, for the summary of a step of continuous integration."""
    lines: list[str] = ["## Conformance", "", *_backends(report), *_verdicts(report)]
    lines += (
        f"- {escaped(one.outcome)}: **{escaped(one.backend)}** {escaped(one.title or one.cause)} ({one.cases:,} cases)"
        for one in report.findings[:SHOWN]
    )
    if len(report.findings) > SHOWN:
        lines.append(f"- {len(report.findings) - SHOWN} more findings are in the report")
    return "\n".join(lines) + "\n"


def _lines(report: Report, folder: str) -> Iterable[str]:
    yield from (f"<!-- {MARK} -->", "# Compatibility report", "")
    for warning in report.warnings:
        yield from (marked("> **{}**", warning), "")
    yield from _backends(report)
    yield from ("", marked("{}", report.basis)) if report.basis else ()
    yield from _found(report, folder)
    yield from ("", "## Operations", "")
    yield from _matrix(report)
    yield from _verdicts(report)
    yield from _failures(report, folder)
    yield from _flaky(report)
    yield from _suite(report)
    yield from _environment(report)


def _backends(report: Report) -> Iterable[str]:
    """Yield who conforms, a row each: power and *must* clauses are of those within the claims."""
    yield from _table(
        ("Backend", "Verdict", "Power within claims", "must held", "broken", "never shown", "Findings"),
        [
            (
                marked("**{}**", b.label),
                f"{VERDICT_GLYPHS[b.verdict]} {b.title}" + ("" if b.complete else " (incomplete)"),
                power_of(b.power),
                b.must.held,
                b.must.broken,
                b.must.unseen,
                findings_of(b),
            )
            for b in report.backends
        ],
    )


def _verdicts(report: Report) -> Iterable[str]:
    """Yield the figures of each backend, and why its verdict is what it is."""
    yield from ("", "## Verdicts", "")
    yield from _table(
        ("Backend", "must clauses", "should clauses", "Cases", "Failing", "Cases/s of its own time"),
        [
            (
                marked("**{}**", b.label),
                held_of(b.must),
                held_of(b.should),
                f"{b.cases:,}",
                f"{b.failing:,}" + (f" ({b.known:,} known)" if b.known else ""),
                f"{b.cases_per_second:,.0f}" if b.cases_per_second else "–",
            )
            for b in report.backends
        ],
    )
    for b in report.backends:
        yield marked("- **{}**: {}", b.label, " ".join(b.why))


def _found(report: Report, folder: str) -> Iterable[str]:
    if report.findings:
        yield from ("", "## Findings", "", "Failures with one cause are one finding. Counted are distinct cases.", "")
    for number, found in enumerate(report.findings, 1):
        before = report.findings[number - 2] if number > 1 else None
        if before is None or _group(before) != _group(found):
            yield from ("", marked("### {}", _group(found)), "")
        yield from _finding(number, found, folder)


def _group(found: Finding) -> str:
    """Return the heading that a finding stands under."""
    return f"{found.backend}, known failures" if found.known else found.backend


def _failures(report: Report, folder: str) -> Iterable[str]:
    yield from ("", "## Failures", "")
    new = [bucket for bucket in report.buckets if bucket.known is None]
    known = [bucket for bucket in report.buckets if bucket.known is not None]
    if not new:
        yield "None." if not known else "None that is new."
    for bucket in new:
        yield from _bucket(bucket, folder)
    yield from ("", "## Known failures", "") if known else ()
    for bucket in known:
        yield from _bucket(bucket, folder)


def _flaky(report: Report) -> Iterable[str]:
    found = [(backend.label, one) for backend in report.backends for one in backend.flaky]
    if found:
        yield from ("", "## Flaky cases", "", f"{FLAKY}", "")
        rows = ((label, one.op, code(one.case), one.detail) for label, one in found)
        yield from _table(("Backend", "Operation", "Case", "Came to"), rows)


def _suite(report: Report) -> Iterable[str]:
    if report.classes:
        labels = [b.label for b in report.backends]
        yield from ("", "## Results where rounding depends on the order", "")
        yield from ("Passed cases by the strongest class that all elements of the result belong to.", "")
        rows = ((op, dtype, *words) for op, dtype, words in table(report.classes, labels))
        yield from _table(("Operation", "Type", *labels), rows)
    yield from _placed(report)
    yield from _topics(report)
    if report.never_exercised:
        yield from ("", "## Clauses that no case exercised", "", marked("{}.", joined(report.never_exercised)))
    if report.mutants:
        killed = sum(mutant.killed for mutant in report.mutants)
        survivors = joined(mutant.name for mutant in report.mutants if not mutant.killed)
        yield from ("", "## The suite itself", "", f"{killed} of {len(report.mutants)} broken backends were caught.")
        yield from (("", f"**Survived: {survivors}.**") if survivors else ())
        if report.uncovered:
            yield from ("", "Public reports of real defects that no broken backend stands for yet:", "")
        yield from (marked("- {}: {}.", link(one.id, one.url), one.missing) for one in report.uncovered)


def _placed(report: Report) -> Iterable[str]:
    if not report.placements:
        return
    labels = [b.label for b in report.backends]
    yield from ("", "## Sharded tensors, step by step", "", f"{STEPS}", "")
    rows = (
        (*row, *("–" if one is None else f"{one.words} {one.traffic}".strip() for one in cells))
        for row, cells in steps(report.placements, labels)
    )
    yield from _table(("Operation", "Operands", "Result", *labels), rows)


def _topics(report: Report) -> Iterable[str]:
    if not report.treated:
        return
    labels = [b.label for b in report.backends]
    yield from ("", "## Topics: sharded tensors, types, transforms and started operations", "", f"{TOPICS}", "")
    rows = (
        (topic.id, topic.text, *("–" if one is None else one.words for one in cells))
        for topic, cells in topics(report.topics, report.treated, labels)
    )
    yield from _table(("Topic", "What", *labels), rows)


def _environment(report: Report) -> Iterable[str]:
    yield from ("", "## Environment", "")
    for run in report.runs:
        told = (run.name, run.started, run.profile, run.seed, code(run.spec_digest[:12]))
        yield marked("- Run {}: {}, profile {}, seed {}, specification {}", *told)
        yield from (marked("  - {}: {}", name, value) for name, value in run.environment.items())
    for b in report.backends:
        yield marked("- {}: {}", b.label, joined((marked("{} {}", *pair) for pair in b.description.items()), "; "))
        yield from (marked("  - guarantee {}: {}", name, words) for name, words in b.guarantees.items())
        yield from (marked("  - numbers, {}: {}", name, words) for name, words in b.number_model.items())


def _matrix(report: Report) -> Iterable[str]:
    whole = {(cell.op, cell.backend): cell for cell in report.cells if cell.clause is None}
    ops = dict.fromkeys(op for op, _ in whole)
    body = []
    for op in ops:
        cells = [whole[op, b.label] for b in report.backends]
        body.append((op, *(f"{GLYPHS[c.state]} {WORDS[c.state]} {figure(c)}".strip() for c in cells)))
    yield from _table(("Operation", *(b.label for b in report.backends)), body)


def _bucket(bucket: Bucket, folder: str) -> Iterable[str]:
    many = f"{bucket.cases:,} case{'' if bucket.cases == 1 else 's'}"
    clause = bucket.clause or "no clause to blame"
    told = (bucket.backend, bucket.op, clause, bucket.requirement, bucket.outcome, many)
    yield marked("- **{}**, {}: {} ({}) {}, {}", *told)
    if bucket.known is not None:
        yield marked("  - {}", _known(bucket.known))
    if bucket.detail:
        yield marked("  - Seen: {}", bucket.detail)
    if bucket.file:
        yield marked("  - {}", code(replay(bucket, folder)))


def _finding(number: int, found: Finding, folder: str) -> Iterable[str]:
    many = f"{found.cases:,} case{'' if found.cases == 1 else 's'}"
    kind = "known" if found.known else found.requirement
    also = (
        marked(", also {}", joined(marked("{}", name) for name in found.others)) if found.others else MarkdownText("")
    )
    told = found.title or found.cause
    yield marked("{}. **{}** ({}, {}, {}{})", MarkdownText(number), told, kind, found.outcome, many, also)
    if found.title:
        yield marked("   {}", found.cause)
    yield marked("   {}", "; ".join(filter(None, map(", ".join, (found.ops, found.dtypes, found.clauses)))))
    if found.explanation:
        more = marked(" {}", link("More", found.link)) if found.link else MarkdownText("")
        yield marked("   {}{}", found.explanation, more)
    if found.origin:
        yield marked("   From {}", found.origin)
    if found.sequence:
        yield marked("   {}", code(again(found, folder)))
    if found.script:
        yield marked("   {}", link("Script without this suite", found.script))


def again(found: Finding, folder: str) -> str:
    """Return the command that runs a finding's smallest case, or the cases of its sequence in order, again."""
    files = " ".join(quoted(folder + file) for file in found.sequence or (found.file,))
    return f"conformance replay {files} -b {quoted(found.backend)}"


def _known(expected: Expected) -> MarkdownText:
    issue = expected.known.issue.strip()
    says = marked(" {}: {}.", expected.where, expected.says) if expected.says else MarkdownText("")
    return marked("{}: {}.{}", expected.terms, link(issue, issue), says)


def replay(bucket: Bucket, folder: str) -> str:
    """Return the command that runs the bucket's case again; empty when its case file is not at hand."""
    if bucket.file is None:
        return ""
    return f"conformance replay {quoted(folder + bucket.file)} -b {quoted(bucket.name)}"


def quoted(word: str) -> str:
    """Return ``word`` for a shell, on one line, control characters escaped."""
    line = printable(" ".join(word.split()))
    return line if re.fullmatch(r"[\w@%+=:,./-]+", line, re.ASCII) else "'" + line.replace("'", "'\"'\"'") + "'"


def _table(head: Sequence[object], body: Iterable[Sequence[object]]) -> Iterable[str]:
    yield f"| {joined(head, ' | ')} |"
    yield f"|{' --- |' * len(head)}"
    for row in body:
        yield f"| {joined(row, ' | ')} |"
    yield ""
