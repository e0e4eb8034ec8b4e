"""Which clauses speak about a case: about the whole program, or about one of its collectives and what that made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from conformance.cases.program.computing import computes
from conformance.judging.clause import AnyClause, Clause
from conformance.judging.collectives import made_of
from conformance.judging.compare import answered, same
from conformance.judging.computing import RightlyComputed
from conformance.judging.numbers.admissible import admissible
from conformance.judging.second_done import as_first
from conformance.judging.subject import ElementMasks, Subject

Of = Callable[[str], Sequence[Clause]]
"""Gives the clauses of an operation."""

VALUES: Final = (same, admissible, as_first)
"""The checks of all of a result's values."""


def of_values(clause: Clause) -> bool:
    """Return whether a clause is about all of a result's values."""
    return clause.check in VALUES or isinstance(clause.check, RightlyComputed)


class SpeakingClause(NamedTuple):
    """A clause that speaks, and the number of the part that it speaks about; ``None`` is the whole program.

    It is ``inherited`` where it speaks about what that part was made of, and so about all of its results.
    """

    part: int | None
    clause: Clause
    inherited: bool = False


def applicable(subject: Subject, of: Of) -> list[Clause]:
    """Return the clauses that speak about the case or one of its collectives, in the order of ``ordered``.

    Where a *should* settles whether there is a value, no *must* demands it or an answer at all: the value is the same,
    its weight is not.
    """
    found = {each.clause.id for each in speaking(subject, of)}
    return [clause for clause in ordered(subject, of) if clause.id in found]


def ordered(subject: Subject, of: Of) -> tuple[Clause, ...]:
    """Return the clauses of all operations of the program, those of the last collective's at the end."""
    ops = list(dict.fromkeys(step.op for step in reversed(subject.case.program.collectives)))
    own = tuple(of(ops[0]))
    if len(ops) == 1:
        return own
    known = {clause.id for clause in own}
    others = {clause.id: clause for op in reversed(ops[1:]) for clause in of(op) if clause.id not in known}
    return (*others.values(), *own)


def speaking(subject: Subject, of: Of) -> list[SpeakingClause]:
    """Return what is asked about the case: of a collective of which no result is made nothing.

    Of results that no collective made the last one's general clauses are.

    Where a *should* settles what such a one made, it is asked of the results that depend on it, and no *must* is of the
    elements that do.
    """
    found: list[SpeakingClause] = []
    for number, part in enumerate(subject.parts):
        returned = _returned(subject, number)
        if returned or (number == len(subject.parts) - 1 and part.expected):
            found += [
                SpeakingClause(number, clause)
                for clause in of(part.step.op)
                if clause.each and (returned or clause.general) and _speaks(part, clause)
            ]
        else:
            recommending = [clause for clause in of(part.step.op) if settling(clause) and _speaks(part, clause)]
            after = [other for other, act in enumerate(subject.acts) if number in act.after and act.results]
            found += [SpeakingClause(other, clause, inherited=True) for clause in recommending for other in after]
    found += [
        SpeakingClause(None, clause) for clause in ordered(subject, of) if not clause.each and _speaks(subject, clause)
    ]
    loose = {each.part for each in found if settles_all(subject, each)}
    if not loose:
        return found
    if not subject.expected.keys() - loosened(subject, found):
        loose.add(None)
    return [each for each in found if each.part not in loose or not demanding(each.clause)]


def _returned(subject: Subject, number: int) -> bool:
    """Return whether some result shows what a collective made; of the last one, if it makes nothing, that it ended."""
    part = subject.parts[number]
    if not part.legal or not part.step.outputs:
        return number == len(subject.parts) - 1
    if not part.expected.keys().isdisjoint(part.step.outputs):
        return True
    made, own = made_of(subject.case), number if subject.acts else len(subject.case.program.collectives) - 1
    return any(own in made[name] for name in part.expected)


def demanding(clause: Clause) -> bool:
    """Return whether a clause demands values, or that there are any."""
    return clause.requirement == "must" and (of_values(clause) or clause.check is answered)


def loosened(subject: Subject, asked: Sequence[SpeakingClause]) -> set[str]:
    """Return the results of which a *should* settles whether they are there at all."""
    numbers = {each.part for each in asked if settles_all(subject, each)}
    return {name for number in numbers if number is not None for name in subject.parts[number].expected}


def unsettled_part(subject: Subject, of: Of) -> bool:
    """Return whether a *should* settles whether some collective has a value at all, be it no result of the program."""
    return any(
        settling(clause) and _speaks(part, clause) and _mask_of(part, clause) is None
        for part in subject.parts
        for clause in of(part.step.op)
    )


def unseen(subject: Subject, of: Of) -> set[int]:
    """Return the collectives whose results nobody sees and of whose values a *should* speaks."""
    hidden = [number for number, act in enumerate(subject.acts) if not act.results]
    parts = {number: subject.parts[number] for number in hidden}
    return {
        number
        for number, part in parts.items()
        if any(settling(clause) and _speaks(part, clause) for clause in of(part.step.op))
    }


def made_after(subject: Subject, parts: AbstractSet[int]) -> set[str]:
    """Return the results that are made of what some collectives made, but for these collectives' own results."""
    if not parts:
        return set()
    own = {name: number for number, act in enumerate(subject.acts) for name in act.results}
    return {name for name, made in made_of(subject.case).items() if made & (parts - {own.get(name)})}


def made_of_parts(subject: Subject, parts: Collection[int]) -> set[str]:
    """Return the results of some collectives, and those that are made of what these made."""
    if not parts or not subject.acts:
        return set(subject.expected) if parts else set()
    own = {name for number in parts for name in subject.acts[number].results}
    return own | {name for name, made in made_of(subject.case).items() if made & {*parts}}


def masks(
    subject: Subject, part: int, asked: Sequence[SpeakingClause], otherwise: AbstractSet[int] = frozenset()
) -> list[ElementMasks]:
    """Return which elements of the results of a part some *should* settles.

    Among them is what is made of such elements of earlier parts that are ``otherwise`` than this specification chooses.
    """
    before = subject.acts[part].after & otherwise if subject.acts else frozenset()
    found = [_mask_of(subject.parts[part], clause) for clause in _settled_in(part, asked, before)]
    return [mask for mask in found if mask is not None]


def spares(subject: Subject, asked: Sequence[SpeakingClause]) -> bool:
    """Return whether ``masks`` has all that is made of an element which a *should* settles.

    What steps compute of such a one may be the same for every other value but that one.
    """
    return not computes(subject.case.program) and all(
        _mask_of(part, clause) is not None
        for number, part in enumerate(subject.parts)
        for clause in _settled_in(number, asked, subject.acts[number].after if subject.acts else frozenset())
    )


def _settled_in(part: int, asked: Sequence[SpeakingClause], before: AbstractSet[int]) -> list[Clause]:
    """Return the *should* clauses that settle something of a part, or of one of those before."""
    found = [each.clause for each in asked if settling(each.clause) and (each.part == part or each.part in before)]
    return list({clause.id: clause for clause in found}.values())


def settles_all(subject: Subject, asked: SpeakingClause) -> bool:
    """Return whether what is asked is a *should* about whether there is a value at all."""
    part = asked.part
    return part is not None and settling(asked.clause) and _mask_of(subject.parts[part], asked.clause) is None


def settles_elements(subject: Subject, asked: SpeakingClause) -> bool:
    """Return whether it is a *should* about some elements, and not about whether there are any."""
    return asked.part is not None and settling(asked.clause) and not settles_all(subject, asked)


def specificity(clause: AnyClause, clauses: Sequence[AnyClause]) -> tuple[int, int, int]:
    """Return the order of blame: *must* before *should*; particular, variant, plain variant, general; last listed."""
    level = ("may", "should", "must").index(clause.requirement)
    breadth = 0 if clause.general else (1 if clause.plain else 2) if clause.variant else 3
    # By their ids: whether two are equal takes the time of a whole check.
    return level, breadth, next(at for at, each in enumerate(clauses) if each.id == clause.id)


def _speaks(subject: Subject, clause: Clause) -> bool:
    if clause.id not in subject.asked.spoke:
        subject.asked.spoke[clause.id] = clause.when(subject)
    return subject.asked.spoke[clause.id]


def settling(clause: Clause) -> bool:
    """Return whether a clause recommends values of one collective, or that there are any."""
    about_values = of_values(clause) or clause.settles is not None
    return clause.each and about_values and clause.requirement != "must"


def _mask_of(subject: Subject, clause: Clause) -> ElementMasks | None:
    """Return which elements a clause settles, or ``None`` for all there is."""
    if clause.settles is None:
        return None
    if clause.id not in subject.asked.masks:
        subject.asked.masks[clause.id] = clause.settles(subject)
    return subject.asked.masks[clause.id]
