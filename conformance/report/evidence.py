"""What the verdict on a backend rests on: the states of clauses, what was asked for, and what fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import msgspec

from conformance.judging.clause import Requirement
from conformance.report.counts.columns import Column
from conformance.report.counts.matrix import Key
from conformance.report.counts.parts import Part, asked_for, cut_short, owed, whole
from conformance.report.counts.tally import State, freeze, state
from conformance.report.inputs.run import Run
from conformance.report.inputs.specification import ClauseText
from conformance.report.summary import ClauseCounts
from conformance.runner.backend.tally import Tally
from conformance.runner.claims import left_out
from conformance.runner.log.header import DECK
from conformance.runner.outcomes import OWED, UNJUDGED
from conformance.runner.records.record import Failure, SequenceFailure

_KEYS: Final[dict[State, str]] = {
    "fail": "broken", "should_fail": "broken", "known": "broken", "differs": "broken", "pass": "held",
    "shadowed": "shadowed", "unsupported": "unsupported", "not_run": "not_run",
}  # fmt: skip


@dataclass(frozen=True)
class Evidence:
    """The cases of one backend, how often each clause came out how, and the specification as it is held to it."""

    column: Column
    counts: Mapping[Key, Counter[str]]
    specification: Sequence[ClauseText]

    @cached_property
    def states(self) -> dict[str, State]:
        """Return the state of each clause over all operations."""
        words: dict[str, Counter[str]] = {}
        for (_, clause, _), counted in self.counts.items():
            if clause is not None:
                words.setdefault(clause, Counter()).update(counted)
        return {text.id: state(freeze(words.get(text.id, {}))) for text in self.specification}

    @cached_property
    def scope(self) -> frozenset[str]:
        """Return the operations that the runs were asked for."""
        return scope_of(self.column, self.specification)

    @cached_property
    def missing(self) -> list[str]:
        """Return the operations of the specification that they were not asked for."""
        return missing(self.specification, self.scope)

    @cached_property
    def asked(self) -> list[ClauseText]:
        """Return the clauses of the operations and the suites that the runs were asked for, and others that spoke."""
        suites = suites_of(self.column)
        listed = [text for text in self.specification if text.shared or text.op in self.scope]
        return [text for text in listed if not suites or text.suite in suites or self.states[text.id] != "not_run"]

    @cached_property
    def tally(self) -> Tally:
        """Return what the records add up to."""
        return Tally.of(self.column.records)

    @cached_property
    def parts(self) -> frozenset[Part]:
        """Return the suites and operations that the runs were asked for together."""
        return frozenset(part for run in self.column.runs for part in asked_for(run))

    @cached_property
    def suites_left(self) -> list[str]:
        """Return the suites of the specification that the runs were not asked for."""
        return sorted({suite for suite, _ in whole(self.specification)} - {suite for suite, _ in self.parts})

    @cached_property
    def apart(self) -> list[Part]:
        """Return suites and operations that the runs were asked for, and not together."""
        left = whole(self.specification) - self.parts
        return sorted(part for part in left if part[0] not in self.suites_left and part[1] not in self.missing)

    @cached_property
    def owed(self) -> frozenset[Part]:
        """Return the parts that a run cut short and no other one drew."""
        return owed(self.column.runs)

    @cached_property
    def outcomes(self) -> Counter[str]:
        """Return how many cases came to each outcome."""
        return Counter(record.outcome for record in self.column.records)

    @cached_property
    def clauses(self) -> dict[Requirement, ClauseCounts]:
        """Return the numbers of clauses of each requirement."""
        levels: tuple[Requirement, ...] = ("must", "should", "may")
        return {level: clause_counts(level, self.states, self.asked) for level in levels}

    @cached_property
    def complete(self) -> bool:
        """Return whether nothing is missing from any run that no other one has, and no case is owed."""
        return not any(map(self.missed, self.column.runs)) and not any(self.outcomes[outcome] for outcome in OWED)

    def missed(self, run: Run) -> bool:
        """Return whether something is missing from a run that no other one has."""
        if run.why_incomplete is None:
            return False
        return not run.ended_early or not asked_for(run) or bool(cut_short(run) & self.owed)

    @cached_property
    def new(self) -> bool:
        """Return whether a *must* fails that no known failure covers."""
        return any(words["must"] for words in self.counts.values()) or any(one.known is None for one in self._broken)

    @cached_property
    def failing(self) -> bool:
        """Return whether a *must* fails."""
        return self.new or bool(self._broken)

    @cached_property
    def _broken(self) -> list[Failure | SequenceFailure]:
        """Return the ways in which a *must* fails."""
        failures: list[Failure | SequenceFailure] = [one for _, one in self.column.failures]
        failures += [one for _, one in self.column.sequences]
        return [one for one in failures if one.requirement == "must"]

    @cached_property
    def unclaimed(self) -> list[str]:
        """Return the operations that are not claimed and not asked: no claim speaks of schedules."""
        records, claims = self.column.records, self.column.entry.claims
        asked = {record.op for record in records if record.outcome not in UNJUDGED and not record.under_claimed}
        return sorted(self.scope - set(claims) - asked) if claims else []

    @cached_property
    def outside(self) -> int:
        """Return how many *must* clauses are about cases or operations alone that are not claimed."""
        return sum(
            self.states[text.id] == "unsupported"
            or (self.states[text.id] == "not_run" and self.left_out(text))
            or (self.states[text.id] == "not_run" and not text.shared and text.op in self.unclaimed)
            for text in self.asked
            if _level(text, self.states) == "must"
        )

    def left_out(self, text: ClauseText) -> bool:
        """Return whether the claims leave out every case that a clause is about, whatever was drawn."""
        ops = self.scope if text.shared else {text.op}
        return left_out(text.id, text.needs, ops, self.column.entry.claims)

    @cached_property
    def undrawn(self) -> list[str]:
        """Return those of the ``open`` clauses of which no case was drawn: more draws may show something."""
        return [clause for clause in self.open if clause in self._never_drawn]

    @cached_property
    def unjudged(self) -> list[str]:
        """Return the operations claimed or asked for by name of which no case was judged."""
        return sorted(self.tally.unjudged(self._wanted))

    @cached_property
    def unshown(self) -> list[str]:
        """Return those of which cases were judged, and none passed with a value.

        Who was only ever to refuse, or had no element to give, has shown nothing: every operation that is claimed, or
        asked for by name, has to pass one legal case with a value before a run is green.
        """
        return sorted(self.tally.unshown(self._wanted))

    @cached_property
    def _wanted(self) -> list[str]:
        """Return the operations asked for that are claimed, or of which a run says that none was shown."""
        name, claims = self.column.entry.name, self.column.entry.claims
        footers = [run.footer for run in self.column.runs if run.footer]
        told = {op for footer in footers for op in (*footer.unjudged.get(name, ()), *footer.unshown.get(name, ()))}
        return sorted(told.union(op for run in self.column.runs for op in run.header.ops if op in claims))

    @cached_property
    def open(self) -> list[str]:
        """Return the *must* clauses that nothing was shown about, although the claims do not leave their cases out.

        Where the claims leave out some cases, and cases that make a clause speak were drawn, it may speak about those
        alone; what one of which no case was drawn would speak about follows from what it needs. Of a shared clause
        nothing is known where not all operations were asked for: those that were may have no part in it.
        """
        return [
            text.id
            for text in self.asked
            if text.requirement == "must"
            if self.states[text.id] == "shadowed" or (self.states[text.id] == "not_run" and not self._excused(text))
        ]

    def _excused(self, text: ClauseText) -> bool:
        """Return whether a clause that never spoke may speak about cases alone that were not to be judged."""
        if self.left_out(text):
            return True
        if text.id in self._never_drawn:
            return False
        return bool(self._refusing or self.missing) if text.shared else text.op in self._refusing

    @cached_property
    def _refusing(self) -> set[str]:
        """Return the operations of which some cases lie outside the claims: of the deck none of these are asked."""
        decked = any(DECK in run.header.environment for run in self.column.runs)
        limited = {op for op, limits in self.column.entry.claims.items() if limits} if decked else set()
        refused = {record.op for record in self.column.records if record.outcome == "unsupported"}
        return refused.union(self.unclaimed, limited)

    @cached_property
    def _never_drawn(self) -> set[str]:
        """Return the clauses that a run was to draw cases for and no run did."""
        footers = [run.footer for run in self.column.runs if run.footer]
        told = {clause for footer in footers for clause in footer.clauses_never_exercised}
        drawn = [run.drawn.exercised.values() for run in self.column.runs if run.drawn is not None]
        return told.difference(*(clauses for each in drawn for clauses in each))


def evidence(column: Column, counts: Mapping[Key, Counter[str]], specification: Sequence[ClauseText]) -> Evidence:
    """Return what the verdict rests on, of clauses as a backend is held to them that gives some guarantees."""
    given = column.entry.guarantees
    held = [
        msgspec.structs.replace(text, requirement="must") if text.guarantee in given else text for text in specification
    ]
    return Evidence(column, counts, held)


def suites_of(column: Column) -> set[str]:
    """Return the suites the runs were asked for."""
    return {suite for run in column.runs for suite in run.header.suites}


def scope_of(column: Column, specification: Sequence[ClauseText]) -> frozenset[str]:
    """Return the operations the runs were asked for; a header without any means all."""
    every = frozenset(text.op for text in specification if not text.shared)
    asked = [frozenset(run.header.ops) or every for run in column.runs]
    return frozenset().union(*asked)


def missing(specification: Sequence[ClauseText], scope: frozenset[str]) -> list[str]:
    """Return the operations of a specification outside a scope."""
    return sorted({text.op for text in specification if not text.shared} - scope)


def clause_counts(level: Requirement, states: Mapping[str, State], asked: Iterable[ClauseText]) -> ClauseCounts:
    """Return how many clauses of one requirement, of those that were asked for, came out how."""
    listed = [text for text in asked if _level(text, states) == level]
    known = sum(states[text.id] == "known" for text in listed)
    return ClauseCounts(**Counter(_KEYS[states[text.id]] for text in listed), known=known)


def _level(text: ClauseText, states: Mapping[str, State]) -> Requirement:
    """Return what a clause asks of a backend: nothing but a *may* where it differs with a source that it follows."""
    return "may" if states[text.id] == "differs" else text.requirement
