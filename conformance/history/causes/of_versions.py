"""The cause of a change among the packages of a backend, by environments with the versions between two runs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from conformance.history.causes.cause import Cause, unexplained
from conformance.history.causes.facts import Facts
from conformance.history.differences import distribution
from conformance.history.error import UnfinishedError
from conformance.history.outline import Outline
from conformance.history.versions.bisection import Bisection, TriedVersions, bisected
from conformance.history.versions.ranges import Range, versions_of
from conformance.runner.dialects import save_case

Trial = Callable[[Mapping[str, str], Sequence[str], Path, str], TriedVersions]
"""Runs a case's file on a backend with packages of these versions, beside requirements that do not change."""


def cause_of_versions(facts: Facts, trial: Trial) -> Cause | None:
    """Return between which versions of which packages a case turns; ``None`` where the runs have the same packages.

    What was not judged in environments of their own, or came out otherwise there than in the runs, is unexplained.
    """
    backend, ranges = facts.change.backend, dict(_ranges(facts))
    if not ranges or None in (facts.change.before, facts.change.after):
        return None
    if facts.case is None:
        return unexplained("the case is not stored beside a run, and the draw it came from makes another case now")
    beside = pinned(facts.after, backend, ranges)
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "case.json"
        save_case(facts.case, file)
        try:
            found = bisected(ranges, lambda versions: trial(versions, beside, file, backend))
        except UnfinishedError as error:
            return unexplained(f"by versions alone nothing is found: {error}")
    ends = [found.tried[0][1], found.tried[1][1]]
    if [one.outcome.split()[0] for one in ends] != [seen.outcome for seen in facts.pair]:
        told = " and ".join(one.outcome for one in ends)
        return unexplained(f"in environments of their own the case comes to {told}, and not to what the runs said")
    says = "; ".join(f"{step.package} {step.last} → {step.first}" for step in found.steps)
    return Cause(sort="package", says=says, evidence=(*lines_of(found), f"tried with {facts.change.case}"))


def lines_of(found: Bisection) -> Iterator[str]:
    """Yield what was found, a line for each package, and how many environments were tried."""
    for step in found.steps:
        untried = f"; not judged between them: {', '.join(step.untried)}" if step.untried else ""
        yield f"{step.package} {step.first}: {step.after}; {step.package} {step.last}: {step.before}{untried}"
    yield f"{len(found.tried)} environments tried"


def pinned(run: Outline, backend: str, ranges: Mapping[str, Sequence[str]]) -> list[str]:
    """Return requirements for what else the backend named as its packages in a run, at the version of that run."""
    said = run.entries[backend].description.items()
    beside = {each: version for each, version in said if distribution(each)}
    return [f"{each}=={version}" for each, version in beside.items() if not _moves(each, version, ranges)]


def _moves(package: str, version: str, ranges: Mapping[str, Sequence[str]]) -> bool:
    """Return whether a package is one of those tried, or goes with one: it has one of its end versions."""
    return any(package == name or version in (several[0], several[-1]) for name, several in ranges.items())


def _ranges(facts: Facts) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the packages that differ, each with its versions; of those that change together the first."""
    known: set[tuple[str, str]] = set()
    for each in facts.differing:
        if each.sort == "package" and each.before and each.after and (each.before, each.after) not in known:
            known.add((each.before, each.after))
            name = distribution(each.name) or each.name
            yield name, versions_of(Range(name, each.before, each.after))
