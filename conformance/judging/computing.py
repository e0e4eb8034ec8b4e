"""Whether what a program computes beside its collectives is right, and which wrong results no earlier one explains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from conformance.cases.case import Case
from conformance.cases.observation import Observation
from conformance.cases.program.computing_words import maker_words
from conformance.cases.program.effects import names
from conformance.cases.program.program import COMPUTING
from conformance.judging.clause import SILENT
from conformance.judging.collectives import made_of
from conformance.judging.compare import answered, changed_inside, unlike, untouched, unwritten
from conformance.judging.graphs.values import bounded, settled
from conformance.judging.numbers.admissible import wrong_results
from conformance.judging.numbers.computed import computed_values
from conformance.judging.numbers.graph_bounds import Known, Problems, out_of_bounds
from conformance.judging.subject import Subject


@dataclass(frozen=True)
class RightlyComputed:
    """Demands that no result is wrong that steps of ``words`` computed.

    Without words it demands that none is out of the bound of the program's graph, where several values are right. Any
    other result of a collective is the business of that one's clauses. Of a wrong result that is made of something that
    an earlier wrong one is made of, too, nobody can tell what is wrong. Nothing is said where no such result is asked
    for, or nothing is known of any.
    """

    words: frozenset[str] = frozenset()

    def __call__(self, subject: Subject, seen: Observation) -> str | None:
        """Return what is wrong, if anything is."""
        problem = answered(subject, seen)
        if problem is not None:
            return problem
        fixed, bounded = _wrong(subject, seen)
        wrong = [name for name in subject.in_order if name in fixed or name in bounded]
        made, told = made_of(subject.case) if len(wrong) > 1 else {}, True
        for at, name in enumerate(wrong):
            mine = not self.words.isdisjoint(maker_words(subject.case).get(name, ()))
            found = bounded.get(name) or fixed.get(name) if mine else None if self.words else bounded.get(name)
            if found and not any(made[name] & made[other] for other in wrong[:at]):
                return found
            told &= not found
        asked = self._asked(subject) if told else frozenset()
        # Of what has another dtype or shape nobody can tell whether its elements are within a bound.
        told &= bool(self.words) or not any(_unlike(subject, seen, name) for name in asked)
        return None if told and asked else SILENT

    def _asked(self, subject: Subject) -> frozenset[str]:
        """Return such results of which something is known, or with an element that has a bound.

        Of a zero of either sign all but that is known.
        """
        known, makers = _known(subject), maker_words(subject.case)
        facts = (bounded, settled) if self.words else (bounded,)
        within = {
            name
            for name in subject.open
            if any(fact(each) for fact in facts for each in known.get(name, ()) if each is not None)
        }
        if not self.words:
            return frozenset(within)
        mine = (name for name in subject.expected if not self.words.isdisjoint(makers[name]))
        return frozenset(name for name in mine if name in within or name in subject.told)


def _unlike(subject: Subject, seen: Observation, name: str) -> bool:
    """Return whether a result, which every rank returned, has another dtype or shape."""
    both = zip(subject.expected[name], seen.results[name], strict=True)
    return any(want is not None and got is not None and unlike(want, got) is not None for want, got in both)


def wrongly_computed(subject: Subject, seen: Observation) -> frozenset[str]:
    """Return the results that steps computed and that are wrong."""
    if not subject.computed or seen.raised:
        return frozenset()
    fixed, bounded = _wrong(subject, seen)
    return frozenset({*fixed, *bounded} & subject.computed)


def _wrong(subject: Subject, seen: Observation) -> tuple[Problems, Problems]:
    """Return the results that are wrong, and those out of bounds; the last are kept, for several clauses ask."""
    known = _LAST.get("asked")
    if known is None or known[0] is not subject or known[1] is not seen:
        known = _LAST["asked"] = subject, seen, (wrong_results(subject, seen), _beyond(subject, seen))
    return known[2]


def _beyond(subject: Subject, seen: Observation) -> Problems:
    return out_of_bounds(subject, seen, _known(subject)) if subject.open else {}


def _known(subject: Subject) -> Known:
    """Return what the program's graph says of results, but of those of which the number model scales something."""
    return {name: each for name, each in computed_values(subject.case).items() if name not in subject.scaled}


_LAST: Final[dict[str, tuple[Subject, Observation, tuple[Problems, Problems]]]] = {}


def operands_kept(subject: Subject, seen: Observation) -> str | None:
    """Demand that no input was touched, and that storage which computing steps read and no step writes is as expected.

    Nothing is said where another operand of theirs is wrong: it may have been so when it was read, or have been written
    since.
    """
    case = subject.case
    table, operands = names(case), _operands(case)
    read = [table[name] for name in operands if table[name].kind == "storage"]
    touched = untouched(subject, seen)
    if touched is not None or seen.raised:
        return touched or changed_inside(case, seen, {each.base for each in read})
    fixed, beyond = _wrong(subject, seen)
    kept = unwritten(case)
    told = True
    for name, problem in (beyond | fixed).items():
        mine = any(table[name].meets(each) for each in read)
        if mine and name in kept:
            return problem
        told &= not mine and name not in operands
    return None if told else SILENT


def _operands(case: Case) -> frozenset[str]:
    """Return what steps that compute read."""
    return frozenset(name for step in case.program.steps if step.op in COMPUTING for name in step.inputs)
