"""A verdict: clause by clause, and the one outcome with the clause to blame."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import msgspec

from conformance.cases.observation import Observation
from conformance.judging.applicability import (
    Of,
    SpeakingClause,
    applicable,
    demanding,
    loosened,
    made_after,
    made_of_parts,
    masks,
    of_values,
    ordered,
    settles_elements,
    settling,
    spares,
    speaking,
    specificity,
    unseen,
    unsettled_part,
)
from conformance.judging.cause import error_of
from conformance.judging.clause import SILENT, AnyClause, Clause, Held, Outcome
from conformance.judging.compare import answered, inputs_kept, same
from conformance.judging.computing import wrongly_computed
from conformance.judging.numbers.admissible import admissible, needed, reached, shown_wrong, wrong_results
from conformance.judging.numbers.classes import Class
from conformance.judging.numbers.recommended_elements import chosen_otherwise, spared
from conformance.judging.sharded.step_outcome import StepSeen
from conformance.judging.subject import ElementMasks, Subject, only


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the clauses say of one observation.

    ``clauses`` has every clause of the last collective's operation that speaks about the case, and of the other
    operations those that are broken. ``classes`` are those of ``judging.classes`` that a passed reduction of
    order-sensitive floats belongs to, and ``shown`` the words, each as "dtype kind word", of the number model that it
    needed. ``error`` is the class of what a failing case raised, or what ended it. A ``refusal`` of what no claim
    leaves out fails only who answers other cases of the operation. ``note`` is evidence beside it.
    ``steps`` are those of a program on sharded tensors of which each made a value alone.
    """

    outcome: Outcome
    clauses: dict[str, Held]
    blame: AnyClause | None = None
    detail: str | None = None
    classes: tuple[Class, ...] = ()
    error: str | None = None
    shown: tuple[str, ...] = ()
    refusal: bool = False
    note: str | None = None
    steps: tuple[StepSeen, ...] = ()


def judge(subject: Subject, seen: Observation, of: Of) -> Verdict:
    """Return the verdict on ``seen``: ``passed``, ``failed``, or ``errored`` when a legal case raised.

    Where an adapter's own lines raised, on whichever rank, nothing is known of what it adapts: ``adapter_error``. Who
    has no words for an illegal program (``backends.base.Unsupported``) has not refused it: ``unsupported``.
    A broken *may* is reported among the clauses and fails nothing. A collective that depends on one whose results are
    wrong, or on a wrong computed one, is not asked for its own: what is wrong there may have been so when it was read.
    Nor is one that depends on elements that a *should* settles and that are not what this specification chooses, where
    nobody knows which of its own do.
    """
    slip = _slip(seen)
    if slip is not None:
        return Verdict(outcome="adapter_error", clauses={}, detail=slip)
    wordless = None if subject.legal else _wordless(seen)
    if wordless is not None:
        return Verdict(outcome="unsupported", clauses={}, detail=wordless)
    asked = speaking(subject, of)
    diverged = divergences(subject, seen, asked)
    own = {clause.id for clause in of(subject.step.op)}
    held: dict[str, Held] = {each.clause.id: "diverges" for each in diverged}
    broken: list[tuple[Clause, str]] = []
    apart = frozenset(each.part for each in diverged if each.part is not None)
    for each, problem in _answers(subject, seen, left_to_ask(asked, diverged, seen), apart, of):
        clause = each.clause
        if problem == SILENT:
            continue
        if problem or clause.id in own:
            held[clause.id] = "broken" if problem else held.get(clause.id, "held")
        if problem and clause.requirement != "may":
            broken.append((clause, problem))
    if not broken:
        if seen.raised:  # a refusal that is right, or that diverges, and has no values to class
            return Verdict(outcome="passed", clauses=held)
        shown = tuple(sorted(" ".join(words) for words in needed(subject, seen)))
        return Verdict(outcome="passed", clauses=held, classes=reached(subject, seen), shown=shown)
    clauses = ordered(subject, of)
    blame, detail = max(_leading(subject, seen, broken), key=lambda pair: specificity(pair[0], clauses))
    outcome: Outcome = "errored" if subject.legal and seen.raised else "failed"
    return Verdict(outcome=outcome, clauses=held, blame=blame, detail=detail, error=error_of(seen))


def _leading(subject: Subject, seen: Observation, broken: list[tuple[Clause, str]]) -> list[tuple[Clause, str]]:
    """Return the broken clauses without those about a flow that no wrong result shows, unless there are no others."""
    if seen.raised or not any(clause.words for clause, _ in broken) or answered(subject, seen):
        return broken
    wrong = wrong_results(subject, seen)
    left = [
        (clause, problem)
        for clause, problem in broken
        if clause.check is not admissible or not clause.words or shown_wrong(subject, wrong, clause.words)
    ]
    return left or broken


def _slip(seen: Observation) -> str | None:
    """Return which exception is of an adapter's own lines, if one is."""
    for errors in (seen.errors, seen.health.errors if seen.health is not None else ()):
        for rank, error in enumerate(errors):
            if error is not None and error.category == "adapter":
                return f"rank {rank}: the adapter's own lines raised {error.kind}: {' '.join(error.message.split())}"
    return None


def divergences(subject: Subject, seen: Observation, asked: Sequence[SpeakingClause]) -> list[SpeakingClause]:
    """Return the clauses that an observation breaks as a source that the backend follows says it does."""

    def differs(each: SpeakingClause) -> bool:
        about = subject if each.part is None else subject.parts[each.part]
        shown = not each.inherited and any(other.shown(about, seen) for other in each.clause.admitted)
        return shown and each.clause.check(about, seen) not in (None, SILENT)

    return [each for each in asked if differs(each)]


def left_to_ask(
    asked: Sequence[SpeakingClause], diverged: Sequence[SpeakingClause], seen: Observation
) -> list[SpeakingClause]:
    """Return what is still asked where clauses diverge: nothing of the values of those collectives.

    Of the whole a *must* is asked about other values; where a clause about the whole diverges, about none. Where the
    program was refused, only what became of its inputs is left.
    """
    if not diverged:
        return list(asked)
    if seen.raised:
        return [each for each in asked if each.clause.check is inputs_kept]
    parts = {each.part for each in diverged}
    numbers = {each.part for each in asked} if None in parts else parts
    left = [each for each in asked if each not in diverged]
    return [
        each
        for each in left
        if not of_values(each.clause)
        or (each.part not in numbers and (each.part is not None or each.clause.requirement == "must"))
    ]


def _wordless(seen: Observation) -> str | None:
    """Return why every rank was asked for what there are no words for, if every one says so."""
    errors = [error for error in seen.errors if error is not None and error.kind == "Unsupported"]
    alike = bool(errors) and len(errors) == len(seen.errors)
    return f"there are no words for it: {errors[0].message}" if alike else None


def _answers(
    subject: Subject, seen: Observation, asked: list[SpeakingClause], diverged: Collection[int], of: Of
) -> Iterator[tuple[SpeakingClause, str | None]]:
    """Yield what each clause says, collective by collective, then of the program; some collectives have ``diverged``.

    What is made of a result that is otherwise than a *should* says may be anything, where it is not known of every
    element whether it is made of one that a *should* settles.
    """
    loose = loosened(subject, asked)
    computed = wrongly_computed(subject, seen) if subject.legal else frozenset()
    excused = bool(loose) or (seen.raised and unsettled_part(subject, of))
    known = spares(subject, asked)
    recommended: list[list[ElementMasks]] = []
    elements: set[int] = set()
    """Collectives of which elements are otherwise, of each of which it is known what is made of it."""
    whole = unseen(subject, of)
    """Collectives that are otherwise, or may be, of which that is not known."""
    wrong = {*diverged}
    for number, about in enumerate(subject.parts):
        recommended.append(masks(subject, number, asked, elements))
        if subject.acts and not seen.raised:
            act = subject.acts[number]
            if act.after & wrong or act.computed & computed:
                continue
        own = [each for each in asked if each.part == number and not _unsaid(subject, seen, each)]
        for each, problem in _asked_of(about, about, seen, recommended[number], own, excused=excused):
            yield each, problem
            broken = problem not in (None, SILENT) and each.clause.requirement != "may"
            if broken and not (known and settles_elements(subject, each)):
                wrong.add(number)
                whole |= {number} if settling(each.clause) else set()
        if not seen.raised and chosen_otherwise(about, seen, recommended[number]):
            for kept in (elements,) if known else (wrong, whole):
                kept.add(number)
    # Of the program as a whole only those results are demanded of which no should says whether they are there.
    free = loose | made_after(subject, whole)
    every = [mask for each in recommended for mask in each]
    others = free | made_of_parts(subject, diverged)
    for valued, names in ((False, free), (True, others)):
        demanded = only(subject, subject.expected.keys() - names) if names else subject
        rest = [each for each in asked if each.part is None and of_values(each.clause) == valued]
        left = [each for each in rest if not names or _left_to_ask(each.clause, demanded)]
        yield from _asked_of(subject, demanded, seen, every, left, excused=excused)


def _left_to_ask(clause: Clause, demanded: Subject) -> bool:
    """Return whether a clause about a program speaks of results that are demanded, or of no values."""
    shown = not clause.words or demanded.shows(*clause.words)
    return not demanding(clause) or (bool(demanded.expected) and clause.when(demanded) and shown)


def _unsaid(subject: Subject, seen: Observation, each: SpeakingClause) -> bool:
    """Return whether a clause says nothing: of some elements where there are none, or of what a source makes of them.

    What depends on a value that a followed source gives differently may be anything.
    """
    return (seen.raised and settles_elements(subject, each)) or (each.inherited and bool(each.clause.admitted))


def _asked_of(
    about: Subject,
    demanded: Subject,
    seen: Observation,
    recommended: list[ElementMasks],
    asked: list[SpeakingClause],
    *,
    excused: bool,
) -> Iterator[tuple[SpeakingClause, str | None]]:
    """Yield what clauses say of one subject, a *must* about values only of what is ``demanded``."""
    others = spared(about, seen, recommended) if recommended else seen
    answers: dict[object, str | None] = {}  # most clauses about values ask the same
    for each in asked:
        clause, must = each.clause, demanding(each.clause)
        if must and excused and seen.raised:
            continue
        if clause.guarantee is not None and answered(about, seen):
            continue  # A law compares results: that there are any is for others to demand.
        told = others if must and of_values(clause) else seen
        # What is made of values that are the reference's bit by bit may still be folded in any order.
        check = admissible if each.inherited and clause.check is same else clause.check
        question = check, must
        if question not in answers:
            answers[question] = check(demanded if must else about, told)
        yield each, answers[question]


def judge_broken(subject: Subject, outcome: Outcome, detail: str, of: Of, error: str | None = None) -> Verdict:
    """Return the verdict on a worker that gave no observation: every applicable clause but laws is broken.

    ``error`` is the signal or the exit status that ended it.
    """
    clauses = ordered(subject, of)
    found = [clause for clause in applicable(subject, of) if clause.guarantee is None]
    blame = max(found, key=lambda clause: specificity(clause, clauses), default=None)
    broken: dict[str, Held] = {clause.id: "broken" for clause in found}
    return Verdict(outcome=outcome, clauses=broken, blame=blame, detail=detail, error=error)
