"""Causes that replays show: the case is run again here, alone, as often as it takes to tell chance from change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from conformance.cases.declarations.terms import terms
from conformance.history.causes.cause import Cause, flaky, unexplained
from conformance.history.causes.facts import Facts, Laboratory, Result
from conformance.history.causes.of_records import of_suite
from conformance.history.differences import Difference, differences
from conformance.history.outline import CaseOutline, Outline
from conformance.runner.log.backend_sources import SOURCES
from conformance.runner.outcomes import UNJUDGED

LIMIT: Final = "case limit"

MACHINE: Final = ("system", "machine", "processor", "cores")
"""What an environment says of the machine: they change together."""


def cause_of_replays(facts: Facts, laboratory: Laboratory) -> Cause:
    """Return the cause that replays of the case here show, or what they left open."""
    before, after = facts.pair
    if facts.case is None:
        return unexplained("its case is stored beside neither run, and the draw it came from makes another one now")
    found = laboratory.replays(facts.case, facts.times)
    judged = [one for one in found if one.outcome not in UNJUDGED]
    if not judged:
        return unexplained(f"it cannot be replayed here: {found[0].outcome if found else 'nothing answered'}")
    failed = sum(one.severity > 0 for one in judged)
    told = f"{failed} of {len(judged)} replays here failed"
    if 0 < failed < len(judged):
        return flaky(failed, len(judged), told, facts.today)
    if _same_observation(before, after, judged):
        return _by_terms(facts, laboratory, told)
    return _by_elimination(facts, laboratory, judged, told)


def _same_observation(before: CaseOutline, after: CaseOutline, judged: Sequence[Result]) -> bool:
    """Return whether both runs observed what is observed here, so that only what judges can differ."""
    seen = {before.observation, after.observation, *(one.observation for one in judged)}
    return None not in seen and len(seen) == 1


def _by_terms(facts: Facts, laboratory: Laboratory, told: str) -> Cause:
    """Judge the same observation by what the backend declared in each run."""
    entries = [run.entries[facts.change.backend] for run in (facts.before, facts.after)]
    old, new = (
        laboratory.judged(facts.case, terms(one.guarantees, one.follows, one.number_model or None)) for one in entries
    )
    same = "what is observed here is what both runs observed"
    if old is None or new is None:
        return unexplained("the same observation, and it could not be judged again", told, same)
    if old.severity != new.severity:
        names = " and ".join(each.name for each in facts.differing if each.sort == "terms")
        judged_so = f"judged here by what each run declares it comes to {old.outcome} and {new.outcome}"
        says = f"the backend declares other {names}, which {facts.change.clause} asks for"
        return Cause(sort="terms", says=says, evidence=(told, same, judged_so))
    changed = {each.name for each in facts.differing if each.sort == "suite"}
    return of_suite(facts, changed, told, same, f"by either run's declarations it comes to {old.outcome} here")


def _by_elimination(facts: Facts, laboratory: Laboratory, judged: Sequence[Result], told: str) -> Cause:
    """Return the one thing that differs where the replays, always alike, are those of one of the two runs."""
    before, after = facts.pair
    here = judged[0]
    as_after, as_before = (_apart(run, facts, laboratory) for run in (facts.after, facts.before))
    for seen, other, apart, word in ((after, before, as_after, "later"), (before, after, as_before, "earlier")):
        if apart:
            continue
        if here.like(seen):
            return _single(
                facts, laboratory, told, f"here, where nothing differs from the {word} run, it is always {here.outcome}"
            )
        if here.like(other) or here.severity != seen.severity:
            failed = sum(one.severity > 0 for one in judged) + (seen.severity > 0)
            once = f"the {word} run came to {seen.outcome} where nothing differs from here, and {told}"
            return flaky(failed, len(judged) + 1, once, facts.today)
    nearest = min((as_after, as_before), key=len)
    return unexplained(
        "what runs here is what neither run judged: " + "; ".join(each.words for each in nearest[:4]),
        told,
        then=_bisect(facts),
    )


def _apart(run: Outline, facts: Facts, laboratory: Laboratory) -> list[Difference]:
    """Return what a run has otherwise than here, of all that an answer to one case alone can depend on."""
    entry = run.entries[facts.change.backend]
    return [
        each
        for each in differences(run.head, laboratory.head, entry, laboratory.entry)
        if each.sort not in ("plan", "claims")
    ]


def _single(facts: Facts, laboratory: Laboratory, *evidence: str) -> Cause:
    """Return what differs between the runs and can have changed the answer, where it is one thing."""
    before, after = facts.pair
    limit = _by_limit(facts, laboratory, evidence)
    if limit is not None:
        return limit
    factors = joined(each for each in facts.differing if each.sort not in ("plan", "claims"))
    observed = None not in (before.observation, after.observation)
    if observed and before.observation != after.observation and "suite" not in {each[0].sort for each in factors}:
        factors = [each for each in factors if each[0].sort != "terms"]
    if len(factors) == 1:
        return _of_factor(facts, factors[0], evidence)
    listed = "; ".join(each.words for several in factors for each in several)
    if not factors:
        return flaky(1, 2, "both runs have the same environment, suite and backend, and differ", facts.today)
    return unexplained(f"{len(factors)} things differ: {listed}", *evidence, then=_bisect(facts))


def _of_factor(facts: Facts, factor: list[Difference], evidence: tuple[str, ...]) -> Cause:
    first = factor[0]
    words = "; ".join(each.words for each in factor)
    only = f"nothing else differs between the runs: {words}"
    if first.sort == "suite":
        return of_suite(facts, {each.name for each in factor}, *evidence, only)
    if first.sort == "terms":
        return Cause(sort="terms", says=words, evidence=(*evidence, only))
    if any(each.name.startswith(SOURCES) for each in factor):
        return Cause(sort="backend", says=words, evidence=(*evidence, only))
    if first.name == "adapters":
        return Cause(sort="adapter", says="the sources of our adapters changed", evidence=(*evidence, only))
    if first.sort == "package":
        return Cause(sort="package", says=words, evidence=(*evidence, only), then=_bisect(facts))
    return Cause(sort="environment", says=words, evidence=(*evidence, only))


def joined(differing: Iterable[Difference]) -> list[list[Difference]]:
    """Return what differs with what can only change together: suite, machine, a backend, packages of one version."""
    factors: dict[tuple[str | None, ...], list[Difference]] = {}
    listed = list(differing)
    judged = {each.name.removeprefix(SOURCES) for each in listed if each.name.startswith(SOURCES)}
    judged |= {name.partition(":")[0].partition(".")[0] for name in judged}  # of module:Class the package has a version
    for each in listed:
        key: tuple[str | None, ...] = (each.sort, each.name)
        if each.name.removeprefix(SOURCES) in judged:
            key = ("backend",)
        elif each.sort == "suite" or each.name in MACHINE:
            key = ("suite",) if each.sort == "suite" else ("machine",)
        elif each.sort == "package":
            key = ("package", each.before, each.after)
        factors.setdefault(key, []).append(each)
    return list(factors.values())


def _by_limit(facts: Facts, laboratory: Laboratory, evidence: tuple[str, ...]) -> Cause | None:
    """Return whether the time that a case may take decided: it is run here with both limits."""
    before, after = facts.pair
    limits = [run.head.environment.get(LIMIT) for run in (facts.before, facts.after)]
    if limits[0] == limits[1] or "timeout" not in (before.outcome, after.outcome):
        return None
    found = [laboratory.replays(facts.case, 1, case_limit=seconds(limit)) for limit in limits]
    told = [several[0].outcome if several else "nothing" for several in found]
    if told != [before.outcome, after.outcome]:
        return None
    tried = f"with {limits[0]} it comes to {told[0]} here, with {limits[1]} to {told[1]}"
    return Cause(
        sort="case_limit", says=f"a case could take {limits[0]} and now {limits[1]}", evidence=(*evidence, tried)
    )


def seconds(limit: str | None) -> float | None:
    """Return the seconds of a limit as an environment has it, ``20 s``."""
    return float(limit.partition(" ")[0]) if limit else None


def _bisect(facts: Facts) -> str | None:
    """Return the command that tries the versions between those of the two runs."""
    packages = [each for each in facts.differing if each.sort == "package" and each.before and each.after]
    if not packages:
        return None
    ranges = " ".join(f"--package {each.name}=={each.before}..{each.after}" for each in packages)
    which = f"--run {facts.after.path.parent} --case {facts.change.case}"
    return f"conformance bisect {which} -b {facts.change.backend} {ranges}"
