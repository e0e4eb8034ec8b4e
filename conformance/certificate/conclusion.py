"""What the records of a certificate come to: recomputed by whoever reads them, never taken from a statement."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

import msgspec

from conformance.certificate.entries import Entry, Guise
from conformance.certificate.product import Waiver
from conformance.certificate.statement import Verdict
from conformance.runner.dialects import further_clauses
from conformance.runner.outcomes import FAILING, OWED
from conformance.specs import every_clause


@dataclass(frozen=True)
class Conclusion:
    """Cases by outcome, the *must* clauses that were broken and how often, the fingerprint, and the verdict.

    ``recognised`` are the entries that passed as drawn and failed in another guise by what no case breaks as drawn: a
    product that breaks a clause openly may do so in one guise and not in the other.
    """

    counts: dict[str, int]
    broken: dict[str, int]
    fingerprint: str
    verdict: Verdict
    recognised: tuple[int, ...]


def concluded(entries: Sequence[Entry], waivers: Sequence[Waiver], day: date) -> Conclusion:
    """Return what entries come to, with waivers that have not expired on a day."""
    requirements = {name: clause.requirement for name, clause in {**every_clause(), **further_clauses()}.items()}
    asked = [one for entry in entries for one in guises(entry)]
    counts = Counter(entry.plain.outcome for entry in entries)
    broken: Counter[str] = Counter()
    unnamed = 0
    for one in asked:
        if one.outcome not in FAILING:
            continue
        # One wrong value breaks general clauses beside the one that is to blame, and what is waived is that one.
        musts = [name for name, held in one.clauses.items() if held == "broken" and requirements.get(name) == "must"]
        if one.blame is not None and requirements.get(one.blame) == "must":
            musts = [one.blame]
        broken.update(musts)
        unnamed += one.outcome in ("crashed", "timeout", "protocol_error") and not musts
    openly = {name for entry in entries for name in _broken(entry.plain)}
    recognised = tuple(
        entry.index
        for entry in entries
        if entry.disguised is not None
        and entry.plain.outcome == "passed"
        and entry.disguised.outcome != "passed"
        and not openly & _broken(entry.disguised)
    )
    waived = {waiver.clause for waiver in waivers if waiver.expiry >= day}
    left = set(broken) - waived
    verdict: Verdict = "conformant"
    if any(one.outcome in OWED for one in asked) or not counts.get("passed"):
        verdict = "incomplete"
    elif left or unnamed:
        verdict = "not conformant"
    elif broken:
        verdict = "conformant but for waivers"
    return Conclusion(
        dict(sorted(counts.items())), dict(sorted(broken.items())), fingerprint(entries), verdict, recognised
    )


def _broken(one: Guise) -> set[str]:
    return {name for name, held in one.clauses.items() if held == "broken"}


def guises(entry: Entry) -> tuple[Guise, ...]:
    """Return what was asked of an entry: the case as drawn, and in another guise."""
    return (entry.plain,) if entry.disguised is None else (entry.plain, entry.disguised)


def fingerprint(entries: Iterable[Entry]) -> str:
    """Return the digest of which classes the order-sensitive reductions belong to, case by case."""
    shown = [(entry.index, [one.classes for one in guises(entry)]) for entry in entries if entry.plain.classes]
    return hashlib.sha256(msgspec.json.encode(shown)).hexdigest()


def like_the_reference(entries: Iterable[Entry]) -> tuple[int, int]:
    """Return how many order-sensitive reductions there are, and how many have the bits of the fold in rank order."""
    shown = [one.classes for entry in entries for one in guises(entry) if one.classes]
    return len(shown), sum("exact" in classes for classes in shown)
