"""The list of cases that must be there, recomputed on all cores and held against the records."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from random import SystemRandom
from typing import Any, Final

from conformance.cases.declarations.terms import Terms
from conformance.certificate.case_list import Place, case_at, case_digest, places
from conformance.certificate.conclusion import guises
from conformance.certificate.disguise import disguised
from conformance.certificate.entries import Entry, Guise
from conformance.certificate.error import CertificateError
from conformance.certificate.profiles import Profile
from conformance.runner.dialect import Trial
from conformance.runner.dialects import name_of, trial

CHUNK: Final = 200
"""Draws that a process makes before it says what they are: half a second."""

MOST_SPEAKING: Final = 5000
"""Records of which every clause that speaks is recomputed, which takes nearly 2 ms each, as long as all the rest; of
more records so many are chosen by chance, which no forger knows."""

LACKING: Final = "it is legal and lies within the claims, and was refused: what the product lacks, its claims leave out"

_TERMS: Final = Terms()
"""The terms of whoever guarantees nothing: what speaks for everybody."""

Expected = tuple[int, str, str, str, str | None]
"""Of a draw that is a case: its index, its name, its digest, what is wrong with its record, and its other guise."""


def check_list(entries: Sequence[Entry], profile: Profile, claims: Mapping[str, Any], seed: int) -> None:
    """Raise ``CertificateError`` where the records are not those of the list: one each, in order, of the right cases.

    Of each case is recomputed which draw it is, its digest, whether it lies within the claims, and its other guise; of
    ``MOST_SPEAKING`` of them also which clauses speak about it whatever is answered.
    """
    found = {entry.index: entry for entry in entries}
    if [entry.index for entry in entries] != sorted(found):
        raise CertificateError("the records are not in order, or one is there twice")
    wanted = _expected(places(profile, claims, seed), claims, seed, found)
    seen: set[str] = set()
    for index, name, digest, wrong, guise in wanted:
        if name in seen:
            continue
        seen.add(name)
        entry = found.pop(index, None)
        if entry is None:
            raise CertificateError(f"the record of case {index}, {name:.200}, is missing: the list has it")
        where = f"record {index}"
        if entry.name != name or entry.plain.case != digest:
            raise CertificateError(f"{where} is of {entry.name!r:.200}; by the seed it is {name!r:.200}")
        hidden = None if entry.disguised is None else entry.disguised.case
        if hidden != guise:
            raise CertificateError(f"{where}: the case in another guise is not the one that the seed gives")
        if wrong:
            raise CertificateError(f"{where}: {wrong}")
    if found:
        strange = found[min(found)]
        raise CertificateError(f"record {strange.index}, {strange.name!r:.200}, is none of the list")


def _expected(
    order: Sequence[Place], claims: Mapping[str, Any], seed: int, found: Mapping[int, Entry]
) -> Iterator[Expected]:
    chunks = [order[at : at + CHUNK] for at in range(0, len(order), CHUNK)]
    part = min(1.0, MOST_SPEAKING / max(len(found), 1))
    jobs = [
        (chunk, claims, seed, {p.index: found[p.index] for p in chunk if p.index in found}, part) for chunk in chunks
    ]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if len(chunks) < 2 or cores < 2:
        for job in jobs:
            yield from _made(job)
        return
    # Forked, so that nothing is imported again: a new interpreter takes as long as a thousand draws.
    with ProcessPoolExecutor(min(cores, len(chunks)), mp_context=get_context("fork")) as pool:
        for made in pool.map(_made, jobs):
            yield from made


def _made(job: tuple[Sequence[Place], Mapping[str, Any], int, Mapping[int, Entry], float]) -> list[Expected]:
    order, claims, seed, found, part = job
    chance, made = SystemRandom(), []
    for place in order:
        case = case_at(place, claims)
        name = name_of(case)
        one = trial(case, place.origin.suite, name)
        if one is None:
            continue
        within = one.outside(claims) is None
        other = disguised(one, seed, claims) if within else None
        entry = found.get(place.index)
        wrong = (
            ""
            if entry is None or entry.name != name
            else _wrong(entry, place, other, within=within, legal=one.facts.legal)
        )
        if entry is not None and not wrong and entry.name == name and chance.random() < part:
            wrong = _silent(entry, one, other)
        made.append((place.index, name, case_digest(case), wrong, None if other is None else case_digest(other.case)))
    return made


def _wrong(entry: Entry, place: Place, other: Trial | None, *, within: bool, legal: bool) -> str:
    """Return what is wrong with a record of the right case, or nothing."""
    if entry.origin != str(place.origin):
        return f"it says that it is draw {entry.origin!r:.120}; {place.origin} is right"
    if not within and (entry.plain.outcome != "unsupported" or entry.plain.observation is not None):
        return "it lies outside the claims, and the record says otherwise"
    if within and legal and "unsupported" in {said.outcome for said in guises(entry)}:
        return LACKING
    told = _inconsistent(entry.plain, within=within)
    if told or other is None or entry.disguised is None:
        return told
    return _inconsistent(entry.disguised, within=within)


def _silent(entry: Entry, one: Trial, other: Trial | None) -> str:
    """Return which clause speaks about a case that passed and has no verdict in the record, or nothing."""
    for said, about in ((entry.plain, one), (entry.disguised, other)):
        if said is None or about is None or said.outcome != "passed":
            continue
        own = {clause.id for clause in about.dialect.own(about.facts.op, _TERMS)}
        missing = sorted((about.dialect.speaking(about.subject) & own) - said.clauses.keys())
        if missing:
            return f"{missing[0]} speaks about its case, and the record has no verdict of it"
    return ""


def _inconsistent(said: Guise, *, within: bool) -> str:  # noqa: PLR0911 - a return for each contradiction
    """Return how an outcome contradicts the clauses, the blame and the digest that stand beside it, or nothing."""
    broken = "broken" in said.clauses.values()
    if said.outcome == "passed":
        if broken or said.blame is not None:
            return "it passed, and a clause of it is broken"
        if said.observation is None:
            return "it passed, and has no digest of an observation"
    elif said.outcome == "unsupported":
        if within and said.observation is None:
            return "it lies within the claims, and was not asked"
        if said.clauses or said.blame is not None:
            return "it is unsupported, and has verdicts of clauses"
    elif said.outcome in ("failed", "errored") and said.blame is None:
        return f"it {said.outcome}, and no clause is to blame"
    elif said.blame is not None and said.clauses.get(said.blame, "broken") != "broken":
        return f"{said.blame} is to blame, and held"
    return ""
