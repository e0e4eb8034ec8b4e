"""Causes that two logs show by themselves: two runs are an experiment too, where only one thing differs."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.history.causes.cause import Cause, flaky, unexplained
from conformance.history.causes.facts import Facts
from conformance.history.outline import CaseOutline, Outline
from conformance.runner.dialects import suites, trial
from conformance.runner.log.header import DECK
from conformance.runner.outcomes import FAILING
from conformance.runner.plan import DECK as THE_DECK
from conformance.runner.plan import PROFILES
from conformance.runner.records.origin import DECK as OF_DECK


def cause_of_records(facts: Facts) -> Cause | None:
    """Return the cause that the logs prove, and at most a draw made again; ``None`` where a backend must be asked."""
    before, after = facts.change.before, facts.change.after
    if before is None or after is None:
        return _of_missing(facts)
    for seen in (after, before):
        if seen.outcome == "flaky":
            return _of_flaky(facts, seen)
    if after.owed or before.owed:
        return _of_owed(facts, after if after.owed else before)
    if "unsupported" in (before.outcome, after.outcome):
        return _of_claims(facts, before, after)
    told = _of_expectation(before, after) or _of_company(facts, before, after)
    return told or _of_chance(facts, before, after) or _of_judge(facts, before, after)


def _of_missing(facts: Facts) -> Cause:
    """Return why one of the runs has no record of a case: it was not to draw it, or did not come to it."""
    gone = facts.change.after is None
    run, word = (facts.after, "later") if gone else (facts.before, "earlier")
    has = facts.before if gone else facts.after
    again = f"conformance draw --run {has.path.parent} --case {facts.change.case}"
    says = f"the {word} run was to draw the case and has no record of it"
    return next(_reasons(facts, run, word), unexplained(says, then=again))


def _reasons(facts: Facts, run: Outline, word: str) -> Iterator[Cause]:
    """Yield every reason why ``run`` does not have the case, each enough by itself."""
    change, head, origin = facts.change, run.head, facts.origin
    seen = change.last
    suite, op = (origin.suite, origin.op) if origin else (seen.suite, seen.op)
    if change.backend not in run.entries:
        yield Cause(sort="plan", says=f"the {word} run did not judge {change.backend}")
    if head.suites and suite not in head.suites:
        yield Cause(sort="plan", says=f"the {word} run was not asked for the suite {suite}")
    if head.ops and op not in head.ops:
        yield Cause(sort="plan", says=f"the {word} run was not asked for {op}")
    if run.foot is None:
        yield Cause(sort="ended", says=f"the {word} run has no footer: it never ended")
    elif f"{suite} of {op}" in run.foot.undrawn:
        yield Cause(
            sort="ended", says=f"the time budget of the {word} run was spent before all of {suite} of {op} was drawn"
        )
    if (seen.origin or "").startswith(OF_DECK):
        yield from _other_deck(facts, run, word)
    elif origin is not None:
        yield from _other_draws(facts, run, word)
    elif facts.before.head.seed != facts.after.head.seed:
        yield Cause(sort="plan", says=f"the {word} run drew cases of seed {head.seed}")


def _other_deck(facts: Facts, run: Outline, word: str) -> Iterator[Cause]:
    """Yield why ``run`` did not ask a case of the deck."""
    has = facts.before if run is facts.after else facts.after
    mine, other = (each.head.environment.get(DECK) for each in (run, has))
    if mine is None:
        yield Cause(sort="plan", says=f"the {word} run asked no deck, and this is a case of it")
    elif mine != other:
        yield Cause(sort="plan", says=f"the {word} run asked another deck ({mine}, and not {other})")
    elif run.foot is not None and THE_DECK in run.foot.undrawn:
        yield Cause(sort="ended", says=f"the time budget of the {word} run was spent before all of the deck was asked")
    elif run.head.profile in PROFILES and (most := PROFILES[run.head.profile].deck) is not None:
        yield Cause(sort="plan", says=f"the {word} run asked the first {most} cases of the deck, and this is another")


def _other_draws(facts: Facts, run: Outline, word: str) -> Iterator[Cause]:
    """Yield why ``run`` did not make the draw that the case came from, or why that draw was another case."""
    origin, head = facts.origin, run.head
    assert origin is not None
    if origin.seed != head.seed:
        yield Cause(
            sort="plan", says=f"the {word} run drew cases of seed {head.seed}, and this is one of seed {origin.seed}"
        )
    profile = PROFILES.get(head.profile)
    if DECK in head.environment and profile is not None and not profile.explores:
        yield Cause(sort="plan", says=f"the {word} run asked the deck and drew nothing")
    elif DECK in head.environment and profile is not None and profile.seconds is not None:
        told = "draws behind the deck go on for as long as there is time"
        yield Cause(sort="ended", says=f"{told}, and the {word} run did not come to {origin}, or chose another of ten")
    chosen = suites().get(origin.suite)
    if chosen and not origin.claimed and origin.number >= chosen.drawn(origin.op, head.examples):
        told = f"{chosen.drawn(origin.op, head.examples)} draws of {origin.suite} of {origin.op}"
        yield Cause(sort="plan", says=f"the {word} run made {told}, and this is number {origin.number}")
    sorts = {each.name for each in facts.differing}
    if origin.claimed and "claims" in sorts:
        yield Cause(sort="claims", says=f"the claims differ, so that {origin} is another case in the {word} run")
    if "specification" in sorts:
        yield Cause(sort="specification", says=f"the specification changed, so that {origin} is another case")


def _of_flaky(facts: Facts, seen: CaseOutline) -> Cause:
    """Return how often a case failed that one run saw come to different outcomes."""
    failed = sum(many for outcome, many in seen.came_to.items() if outcome in FAILING)
    word = "later" if seen is facts.change.after else "earlier"
    return flaky(failed, sum(seen.came_to.values()), f"the {word} run asked for it more than once", facts.today)


def _of_owed(facts: Facts, seen: CaseOutline) -> Cause:
    """Return why nothing was shown of a case."""
    word = "later" if seen is facts.change.after else "earlier"
    if seen.outcome == "adapter_error":
        return Cause(sort="adapter", says=f"lines of the adapter raised in the {word} run: {seen.detail}")
    return Cause(sort="ended", says=f"the {word} run did not come to it: {seen.detail}")


def _of_claims(facts: Facts, before: CaseOutline, after: CaseOutline) -> Cause:
    """Return whether the claims leave a case out that others held; else a backend refused what it claims."""
    name = facts.change.backend
    old, new = facts.before.entries.get(name), facts.after.entries.get(name)
    one = trial(facts.case) if facts.case is not None else None
    if one is not None and old is not None and new is not None:
        left_out = (one.outside(old.claims), one.outside(new.claims))
        if (left_out[0] is None) != (left_out[1] is None):
            told = f"the {'earlier' if left_out[0] else 'later'} claims leave it out: {left_out[0] or left_out[1]}"
            return Cause(sort="claims", says=told, evidence=("the case was held against the claims of both runs",))
    if old is not None and new is not None and old.claims != new.claims:
        return Cause(sort="claims", says=f"the claims differ; the record says: {(after.detail or before.detail)}")
    refused = after if after.outcome == "unsupported" else before
    return unexplained(f"the claims are the same, and the backend refused the case: {refused.detail}")


def _of_expectation(before: CaseOutline, after: CaseOutline) -> Cause | None:
    """Return that somebody expects something else of a case that came out alike."""
    if (before.outcome, before.blame) != (after.outcome, after.blame) or before.expected == after.expected:
        return None
    if after.expected is None:
        return Cause(sort="expectation", says="it fails as before, and nobody says any more that it is known to")
    return Cause(sort="expectation", says=f"it fails as before: {after.expected.says or after.expected.state}")


def _of_company(facts: Facts, before: CaseOutline, after: CaseOutline) -> Cause | None:
    """Return that one run has the verdict on a case in company, the other on it alone, where nothing else differs."""
    settled = [seen.company is not None and not seen.company.alone for seen in (before, after)]
    if settled[0] == settled[1] or any(each.sort != "plan" for each in facts.differing):
        return None
    then, now = ("in company" if each else "alone" for each in settled)
    return Cause(sort="company", says=f"it {before.outcome} {then} before, and {after.outcome} {now} now")


def _of_chance(facts: Facts, before: CaseOutline, after: CaseOutline) -> Cause | None:
    """Return that a case is flaky where the two runs, or one of them, show both in one environment and revision."""
    for seen in (after, before):
        if seen.unrepeated is not None:
            told = f"it came to {seen.unrepeated} after other cases in one process and to {seen.outcome} alone"
            return flaky(1, 2, told, facts.today)
    if any(each.sort != "plan" for each in facts.differing):
        return None
    failed = sum(seen.outcome in FAILING for seen in (before, after))
    if failed != 1:
        return None
    return flaky(1, 2, "both runs have the same environment, suite and backend, and differ", facts.today)


def _of_judge(facts: Facts, before: CaseOutline, after: CaseOutline) -> Cause | None:
    """Return what of the judge changed where both runs observed the same; ``None`` where they did not."""
    if before.observation is None or before.observation != after.observation:
        return None
    same = f"both runs observed the same ({before.observation[:12]})"
    judges = [each for each in facts.differing if each.sort in ("suite", "terms")]
    clause = facts.change.clause or "no clause"
    if not judges:
        return unexplained(f"the verdict on it differs, by {clause}, and nothing that judges does", same)
    if {each.sort for each in judges} == {"terms"}:
        names = " and ".join(each.name for each in judges)
        return Cause(
            sort="terms", says=f"the backend declares other {names}, which {clause} asks for", evidence=(same,)
        )
    if {each.sort for each in judges} != {"suite"}:
        return None
    return of_suite(facts, {each.name for each in judges}, same)


def of_suite(facts: Facts, names: set[str], *evidence: str) -> Cause:
    """Return which of specification and reference changed what is said of the same observation, and by which clause."""
    (before, after), clause = facts.pair, facts.change.clause
    spoke = [clause is not None and f'"{clause}"'.encode() in bytes(seen.clauses) for seen in (before, after)]
    if clause is not None and spoke[0] != spoke[1]:
        told = (
            f"{clause} {'did not speak' if spoke[1] else 'spoke'} before and {'speaks' if spoke[1] else 'does not'} now"
        )
        return Cause(sort="specification", says=told, evidence=evidence)
    told = f"{clause or 'the verdict'} says {after.outcome} of what it said {before.outcome} of"
    if names == {"specification"}:
        return Cause(sort="specification", says=told, evidence=evidence)
    if names == {"reference"}:
        return Cause(sort="reference", says=told, evidence=evidence)
    return Cause(sort="suite", says=f"{told}; specification and reference both differ", evidence=evidence)
