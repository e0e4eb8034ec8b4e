"""The list of cases that must be there, recomputed on all cores and held against the records."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, islice
from multiprocessing import get_context
from random import SystemRandom
from typing import Any, Final, NamedTuple

from conformance.backends.base import Claims
from conformance.backends.claim_limits import supported
from conformance.backends.discovery import find
from conformance.cases.case import Case
from conformance.cases.declarations.terms import Terms
from conformance.cases.program.features import features
from conformance.certificate.case_list import ListPlace, case_at, case_digest, places
from conformance.certificate.conclusion import guises
from conformance.certificate.disguise import disguised, other_guises
from conformance.certificate.entries import Entry, Guise, Records, entries_of, slice_lines
from conformance.certificate.error import CertificateError
from conformance.certificate.profiles import Profile
from conformance.judging.compare import inputs_kept
from conformance.runner.dialect import Trial
from conformance.runner.dialects import further_clauses, name_of, trial
from conformance.runner.worker.in_process import InProcess
from conformance.specs import every_clause

CHUNK: Final = 250
"""Records that a process holds against the list before it says what they are: half a second."""

AHEAD: Final = 4
"""Parts that are handed over before the rows of the first are taken."""

SAMPLE: Final = 5000
"""Records of which is recomputed what their cases mean, which takes longer than all the rest; of more records so many
are chosen by chance, which no forger knows, and those of refused cases besides."""

LACKING: Final = "it is legal and lies within the claims, and was refused: what the product lacks, its claims leave out"

DISORDER: Final = "the records are not in order, or one is there twice"

_TERMS: Final = Terms()
"""The terms of whoever guarantees nothing: what speaks for everybody."""


@dataclass(frozen=True)
class _Part:
    """Some lines of a slice, which have the records of the places ``start`` to ``end`` of the list."""

    file: str
    lines: Sequence[bytes]
    start: int
    end: int


class _Row(NamedTuple):
    """Of a place of the list the name of its case, ``None`` where it has none, of its record, and what is wrong."""

    place: int
    name: str | None
    recorded: str | None
    wrong: str = ""


def check_list(records: Records, profile: Profile, claims: Mapping[str, Any], seed: int) -> None:
    """Raise ``CertificateError`` where the records are not those of the list: one each, in order, of the right cases.

    Of each case is recomputed which draw it is, its digest, and its other guise. Of ``SAMPLE`` of them, and of all that
    were refused or have no other guise, also whether it lies within the claims, whether its other guise does, and which
    clauses speak about it whatever is answered and find something to see in the reference's answer.
    """
    order = places(profile, claims, seed)
    listed = _List(order, claims, seed, min(1.0, SAMPLE / max(len(records), 1)))
    seen: set[str] = set()
    for row in _on_all_cores(listed, _parts(records, len(order))):
        repeated = row.name is None or row.name in seen
        if repeated and row.recorded is not None:
            raise CertificateError(f"record {row.place}, {row.recorded!r:.200}, is none of the list")
        if repeated:
            continue
        assert row.name is not None
        seen.add(row.name)
        if row.recorded is None:
            raise CertificateError(f"the record of case {row.place}, {row.name:.200}, is missing: the list has it")
        if row.wrong:
            raise CertificateError(f"record {row.place}{row.wrong}")


def _parts(records: Records, count: int) -> Iterator[_Part]:
    """Yield the records in parts, each with the places that it has to have: up to the first of the next."""
    last: _Part | None = None
    for each, content in zip(records.slices, records.contents(), strict=True):
        lines = slice_lines(content, each)
        for at in range(0, len(lines), CHUNK):
            part = lines[at : at + CHUNK]
            first = entries_of(part[:1], each.file)[0].index
            if last is not None:
                yield replace(last, end=_later(first, last.start))
            last = _Part(each.file, part, 0 if last is None else first, count)
    yield last or _Part("", (), 0, count)


def _later(index: int, before: int) -> int:
    if index <= before:
        raise CertificateError(DISORDER)
    return index


def _on_all_cores(listed: _List, parts: Iterator[_Part]) -> Iterator[_Row]:
    """Yield what is found of each part, in order; few are handed over before they are taken, so that few are kept.

    Each process has some operations of some suites to itself: what draws of one share is made once.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    first = list(islice(parts, 2))
    if len(first) < 2 or cores < 2:
        for part in chain(first, parts):
            yield from listed.rows(part)
        return
    turns = {of: at % cores for at, of in enumerate(dict.fromkeys(place.of for place in listed.order))}
    with ExitStack() as stack:
        # Forked, so that nothing is imported again and the list is there: an interpreter takes as long as many draws.
        pools = [
            stack.enter_context(ProcessPoolExecutor(1, get_context("fork"), _begin, (listed, turns, turn)))
            for turn in range(cores)
        ]
        waiting: deque[list[Future[list[_Row]]]] = deque()
        for part in chain(first, parts):
            waiting.append([pool.submit(_rows, part) for pool in pools])
            if len(waiting) > AHEAD:
                yield from _merged(waiting.popleft())
        while waiting:
            yield from _merged(waiting.popleft())


def _merged(found: list[Future[list[_Row]]]) -> list[_Row]:
    """Return the rows of a part that the processes found, in order."""
    return sorted((row for one in found for row in one.result()), key=lambda row: row.place)


_here: dict[str, Any] = {}
"""What this process holds records against: the list, and which of its places."""


def _begin(listed: _List, turns: Mapping[tuple[str, str], int], turn: int) -> None:
    _here.update(listed=listed, mine=lambda place: turns[place.of] == turn, turn=turn)


def _rows(part: _Part) -> list[_Row]:
    listed: _List = _here["listed"]
    return listed.rows(part, _here["mine"], strangers=_here["turn"] == 0)


@dataclass(frozen=True)
class _List:
    """The list of cases of a certificate; of a ``share`` of the records is recomputed what their cases mean."""

    order: Sequence[ListPlace]
    claims: Mapping[str, Any]
    seed: int
    share: float
    chance: SystemRandom = field(default_factory=SystemRandom)

    def rows(
        self, part: _Part, mine: Callable[[ListPlace], bool] = lambda place: True, *, strangers: bool = True
    ) -> list[_Row]:
        """Return a row for each place of a part that is ``mine``, and for each record of it that is of no place."""
        entries = entries_of(part.lines, part.file)
        found = {entry.index: entry for entry in entries}
        if [entry.index for entry in entries] != sorted(found):
            raise CertificateError(DISORDER)
        places = self.order[part.start : part.end]
        made = [self._row(place, found.get(place.index)) for place in places if mine(place)]
        if strangers:
            known = {place.index for place in places}
            made += [_Row(entry.index, None, entry.name) for entry in entries if entry.index not in known]
        return made

    def _row(self, place: ListPlace, entry: Entry | None) -> _Row:
        case = case_at(place, self.claims)
        name, one = name_of(case), None
        recorded = None if entry is None else entry.name
        if not isinstance(case, Case):
            one = trial(case, place.origin.suite, name)
            if one is None:  # a draw that is no case of its dialect has no record
                return _Row(place.index, None, recorded)
        if entry is None:
            return _Row(place.index, name, None)
        wrong = self._wrong(place, entry, case, name, one)
        return _Row(place.index, name, entry.name, wrong)

    def _wrong(self, place: ListPlace, entry: Entry, case: Any, name: str, one: Trial | None) -> str:
        """Return what is wrong with the record of a case, or nothing."""
        if entry.name != name or entry.plain.case != case_digest(case):
            return f" is of {entry.name!r:.200}; by the seed it is {name!r:.200}"
        if entry.origin != str(place.origin):
            return f" says that it is draw {entry.origin!r:.120}; {place.origin} is right"
        if "unsupported" not in {said.outcome for said in guises(entry)} and self.chance.random() >= self.share:
            first = next(other_guises(case, name, self.seed), None)
            if first is not None and entry.disguised is not None and entry.disguised.case == case_digest(first):
                return next(filter(None, (_inconsistent(said, within=True) for said in guises(entry))), "")
        if entry.disguised is None and isinstance(case, Case) and unclaimed(case, self.claims):
            return _said(entry, None, within=False, legal=False)
        one = one or trial(case, place.origin.suite, name)
        assert one is not None  # of programs each is a case
        within = one.outside(self.claims) is None
        other = disguised(one, self.seed, self.claims) if within else None
        if (entry.disguised and entry.disguised.case) != (other and case_digest(other.case)):
            return ": the case in another guise is not the one that the seed gives"
        return _said(entry, other, within=within, legal=one.facts.legal) or _silent(entry, one, other)


def unclaimed(case: Case, claims: Claims) -> bool:
    """Return whether claims leave a program out, whatever it means.

    They leave out an operation of it, or, where it has one call alone, something that this is called with.
    """
    called = case.program.collectives
    if any(step.op not in claims for step in called):
        return True
    return len(called) == 1 and supported(claims, [called[0].op], features(case)) is not None


def _said(entry: Entry, other: Trial | None, *, within: bool, legal: bool) -> str:
    """Return what is wrong with what the record of the right case says, or nothing."""
    if not within and (entry.plain.outcome != "unsupported" or entry.plain.observation is not None):
        return ": it lies outside the claims, and the record says otherwise"
    if within and legal and "unsupported" in {said.outcome for said in guises(entry)}:
        return f": {LACKING}"
    told = _inconsistent(entry.plain, within=within)
    if told or other is None or entry.disguised is None:
        return told
    return _inconsistent(entry.disguised, within=within)


def _silent(entry: Entry, one: Trial, other: Trial | None) -> str:
    """Return which clause speaks about a case that passed and has no verdict in the record, or nothing."""
    for said, about in ((entry.plain, one), (entry.disguised, other)):
        if said is None or about is None or said.outcome != "passed":
            continue
        own = {clause.id: clause for clause in about.dialect.own(about.facts.op, _TERMS)}
        foreign = {name for name, held in said.clauses.items() if held == "held"} - own.keys()
        if foreign:
            return f": {min(foreign)} is no clause of its operation, and has a verdict"
        missing = (about.dialect.speaking(about.subject) & own.keys()) - said.clauses.keys()
        if "diverges" in said.clauses.values():  # then nothing is asked of values, and of a refusal only this
            missing = {each for each in missing if getattr(own[each], "check", None) is inputs_kept}
        if missing and (missing := missing & _told_of_reference(about)):
            return f": {min(missing)} speaks about its case, and the record has no verdict of it"
    return ""


def _told_of_reference(one: Trial) -> frozenset[str]:
    """Return the clauses that have a verdict on what the reference answers.

    One that speaks may find nothing to see in an answer, as one about bytes of bools where no bool is returned.
    """
    worker = InProcess(find("reference"))
    talk = one.dialect.dialogue(one.subject, _TERMS)
    try:
        asked = next(talk)
        while True:
            asked = talk.send(worker.ask(asked.request))
    except StopIteration as ended:
        return frozenset(ended.value.clauses)


@cache
def _known() -> dict[str, str]:
    """Return how much each clause demands."""
    return {name: clause.requirement for name, clause in {**every_clause(), **further_clauses()}.items()}


def _inconsistent(said: Guise, *, within: bool) -> str:  # noqa: PLR0911 - a return for each contradiction
    """Return how an outcome contradicts the clauses, the blame and the digest that stand beside it, or nothing."""
    broken = {name for name, held in said.clauses.items() if held == "broken"}
    strange = said.clauses.keys() - _known().keys()
    if strange:
        return f": {min(strange)!r:.80} is no clause"
    if said.outcome == "passed":
        if broken or said.blame is not None:
            return ": it passed, and a clause of it is broken"
        if said.observation is None:
            return ": it passed, and has no digest of an observation"
    elif said.outcome == "unsupported":
        if within and said.observation is None:
            return ": it lies within the claims, and was not asked"
        if said.clauses or said.blame is not None:
            return ": it is unsupported, and has verdicts of clauses"
    elif said.outcome in ("failed", "errored") and said.blame is None:
        return f": it {said.outcome}, and no clause is to blame"
    elif said.blame is not None and said.blame not in broken:
        return f": {said.blame!r:.80} is to blame, and is not among what it breaks"
    elif said.blame is not None and _known()[said.blame] != "must" and "must" in map(_known().get, broken):
        return f": {said.blame} is to blame, which is no must, and a must is broken"
    return ""
