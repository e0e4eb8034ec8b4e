"""A comparison as Markdown, for a comment on a pull request or the summary of a step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from conformance.history.changes import Comparison, Kind
from conformance.history.formats.told import HEADINGS, MEANINGS, Causes, Group, groups, sentence
from conformance.history.outline import Outline
from conformance.report.failures.findings import SCRIPTS
from conformance.report.formats.markdown_text import escaped

MARK: Final = "<!-- mesh-conformance diff -->"
"""By it a workflow finds its earlier comment and writes over it."""

OPEN: Final[frozenset[Kind]] = frozenset({"regressed", "never_shown", "flaky"})
"""Kinds that are shown unfolded."""

MOST: Final = 25
"""Groups of a kind that are listed: GitHub takes comments of 65,536 characters."""

COMMANDS: Final = 10
"""Commands of a kind that are listed."""


def as_comment(comparison: Comparison, causes: Causes) -> str:
    """Return a comparison as Markdown."""
    return "\n".join(_lines(comparison, causes)) + "\n"


def _lines(comparison: Comparison, causes: Causes) -> Iterator[str]:
    count = len(comparison.regressions)
    title = f"{count} case{'s' * (count != 1)} regressed" if count else "No regression"
    yield MARK
    yield f"## {'✗' if count else '✓'} Conformance: {title}"
    yield ""
    before, after = comparison.before, comparison.after
    old, new = (f"{escaped(run.name)} ({run.head.started})" for run in (before, after))
    yield f"{old} → {new}: {sentence(comparison)}."
    if comparison.why_incomplete is not None:
        yield f"\n> **The later run is incomplete: {escaped(comparison.why_incomplete)}**"
    for name in sorted(before.entries.keys() & after.entries.keys()):
        differing = [each.words for each in comparison.differing[name] if each.sort in ("package", "environment")]
        if differing:
            yield f"\nBetween the two runs of **{escaped(name)}**: {escaped('; '.join(differing[:MOST]))}."
    told: dict[Kind, list[Group]] = {}
    for group in groups(comparison, causes):
        told.setdefault(group.kind, []).append(group)
    for kind, listed in told.items():
        yield ""
        if kind in OPEN:
            yield f"### {HEADINGS[kind]}"
        else:
            yield f"<details><summary>{HEADINGS[kind]}: {sum(one.cases for one in listed):,} cases</summary>\n"
        yield f"{MEANINGS[kind].capitalize()}.\n"
        yield "| Backend | Operation | Clause | Before → after | Cases | Cause |"
        yield "| --- | --- | --- | --- | ---: | --- |"
        for one in listed[:MOST]:
            yield _row(one)
        if len(listed) > MOST:
            yield f"\n{len(listed) - MOST} more rows are in the JSON of the comparison."
        yield from _commands(listed, after if kind in OPEN else None)
        if kind not in OPEN:
            yield "\n</details>"


def _row(group: Group) -> str:
    cells = (
        f"**{escaped(group.backend)}**",
        escaped(group.op),
        escaped(group.clause or "–"),
        escaped(group.words),
        f"{group.cases:,}",
        escaped(f"{group.cause.title}: {group.cause.says}") if group.cause else "–",
    )
    return f"| {' | '.join(cells)} |"


def _commands(listed: list[Group], run: Outline | None) -> Iterator[str]:
    """Yield what would tell more, and how the smallest cases that fail in ``run`` are run again, with their scripts."""
    commands = [one.cause.then for one in listed[:MOST] if one.cause and one.cause.then]
    commands += _replays(listed, run) if run is not None else ()
    told = list(dict.fromkeys(commands))
    if told:
        yield "\n```sh"
        yield from (" ".join(command.split()).replace("`", "") for command in told[:COMMANDS])
        yield "```"


def _replays(listed: list[Group], run: Outline) -> Iterator[str]:
    """Yield the commands that run the smallest cases again that are stored beside a run, and their scripts."""
    folder, backends = run.path.parent, {one.backend for one in listed}
    for way in run.ways:
        if way.backend in backends and way.file and (folder / way.file).is_file():
            yield f"conformance replay {folder / way.file} -b {way.backend}"
            script = folder / SCRIPTS / f"{way.backend}-{Path(way.file).stem}.py"
            if script.is_file():
                yield f"python {script}"
