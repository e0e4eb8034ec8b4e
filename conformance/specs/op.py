"""An operation: its domain, its clauses, its worked examples and its names in each framework."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, get_args

from msgspec.structs import replace as changed

from conformance.cases.case import Case
from conformance.cases.program.program import NO_COLLECTIVES
from conformance.cases.tensor.dtypes import Kind
from conformance.judging.clause import Clause, Needs, Requirement, legal
from conformance.judging.numbers.admissible import admissible
from conformance.judging.refusals import refused
from conformance.judging.subject import ElementMasks, Subject
from conformance.reference.operations import TABLE
from conformance.reference.rejection import Rejected
from conformance.reference.spmd import evaluate

Blocks = list[Any]


@dataclass(frozen=True)
class Example:
    """A worked example of a source: nested lists, one block a rank, in and out.

    ``blocks`` is the one operand, or a tuple of operands where the operation takes several.
    """

    source: str
    dtype: str
    attrs: Mapping[str, Any]
    blocks: Blocks | tuple[Blocks, ...]
    results: Blocks
    groups: tuple[tuple[int, ...], ...] | None = None


@dataclass(frozen=True)
class Result:
    """The result of an operation in one ``form``, and the ``clauses`` that say so.

    ``shape`` is a Python expression of ``shape``, that of a block, and ``n``, the size of the group, with the
    attributes by name and axes counted from 0; empty where nothing is given. ``dtype`` is in words.
    """

    form: str
    shape: str
    dtype: str
    clauses: tuple[str, ...]


SAME: Final = "that of the block"
FOLDED: Final = "that of the block; of `sum` and `product` of bools int32, of `mean` of integers and bools float64"
FOLDS: Final = ("reduction.C11", "reduction.C13")
"""Dtypes of results in words, and the clauses about that of a fold."""


@dataclass(frozen=True)
class Op:
    """One operation of the specification. ``shares`` are the clauses it has in common with others.

    ``results`` are what it gives, form by form, and ``arguments`` have the clauses about each, beside those that
    several operations have. ``no_example`` says why there is no worked example, where there is none.
    """

    name: str
    summary: str
    shares: tuple[Clause, ...]
    clauses: tuple[Clause, ...]
    results: tuple[Result, ...]
    arguments: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    no_example: str = ""


def value(
    id: str,
    text: str,
    source: str,
    when: Callable[[Subject], bool] = legal,
    requirement: Requirement = "must",
    settles: Callable[[Subject], ElementMasks | None] | None = None,
) -> Clause:
    """Return a clause about results: where it speaks, they are the reference's, or admissible beside them.

    It speaks where it is known what is right, and of operations that have something to do: of those of one operand,
    which are mapped over as many as a step names, ``collective.C21``, ``C27`` and ``C30`` say all there is to say over
    no axis and on an empty tuple. A general one speaks where no value is known, too, of dtypes and shapes.
    """

    def speaks(subject: Subject) -> bool:
        idle = TABLE[subject.step.op].operands == 1 and (subject.step.idle or not subject.step.inputs)
        return subject.legal and not idle and when(subject) and (when is legal or not subject.unsettled)

    needs = (LEGAL, *needs_of(when))
    return Clause(
        id,
        requirement,
        text,
        speaks,
        admissible,
        source,
        general=when is legal,
        each=True,
        settles=settles,
        needs=needs,
    )


def variant(id: str, text: str, source: str, when: Callable[[Subject], bool]) -> Clause:
    """Return a *must* clause about results for one value of an option that every case has."""
    return replace(value(id, text, source, when), variant=True, plain=isinstance(when, Attr) and when.plain)


def rejection(
    id: str, text: str, source: str, requirement: Requirement = "must", **features: tuple[str, ...]
) -> Clause:
    """Return a clause about a program without meaning, all of which have ``features``: the implementation refuses it.

    What was only started may be refused by done (``async.C17``), so that nothing is asked where the rest has a meaning
    without what nobody waits for.
    """

    def speaks(subject: Subject) -> bool:
        mine = subject.rejected is not None and subject.rejected.clause == id
        return mine and (not subject.has("flow", "never_done", "started_none") or _refusable(subject.case))

    return Clause(id, requirement, text, speaks, refused, source, needs=(("calls", ("illegal",)), *features.items()))


def _refusable(case: Case) -> bool:
    """Return whether the program has no meaning either without what is started and never waited for."""
    waited = {name for step in case.program.steps if step.op == "done" for name in step.inputs}
    steps = tuple(step for step in case.program.steps if not step.start or waited.intersection(step.outputs))
    if all(step.op in NO_COLLECTIVES for step in steps):
        return False
    try:
        evaluate(changed(case, program=changed(case.program, steps=steps)))
    except Rejected:
        return True
    return False


PLAIN_ATTRIBUTES: Final = {"op": "sum"}
"""The plain value of an option, else no: an operation that fails with it fails whatever the option."""


@dataclass(frozen=True)
class Attr:
    """Speaks about cases whose step has one of the ``wanted`` values of attribute ``name``."""

    name: str
    wanted: tuple[object, ...]

    def __call__(self, subject: Subject) -> bool:
        """Return whether it speaks."""
        return subject.step.attrs.get(self.name) in self.wanted

    @property
    def needs(self) -> Needs:
        """Return the words of its values; numbers and lists have none of their own."""
        words = [_word(each) for each in self.wanted]
        given = tuple(word for word in words if word is not None)
        if len(given) < len(words):
            return ()
        return reductions(*given) if self.name == "op" else ((self.name, given),)

    @property
    def plain(self) -> bool:
        """Return whether it speaks about the plain value of an option."""
        return PLAIN_ATTRIBUTES.get(self.name, False) in self.wanted


BLOCKWISE: Final = tuple(
    sorted(name for name, row in TABLE.items() if row.operands == 1 and row.result == "block" and not row.takes_token)
)
"""Operations that make of one block a rank another one: several suites are about all of them."""


def attr(name: str, *wanted: object) -> Attr:
    """Speak about cases whose step has one of the ``wanted`` values of attribute ``name``."""
    return Attr(name, wanted)


@dataclass(frozen=True)
class About:
    """Speaks about cases that ``when`` tells, all of which have what it ``needs``."""

    when: Callable[[Subject], bool]
    needs: Needs

    def __call__(self, subject: Subject) -> bool:
        """Return whether it speaks."""
        return self.when(subject)


def has(feature: str, *words: str) -> About:
    """Speak about cases with any of ``words`` for ``feature``."""
    return About(lambda subject: subject.has(feature, *words), ((feature, words),))


@dataclass(frozen=True)
class Shows(About):
    """Speaks about cases of which some result shows how what ``words`` of ``effects`` or ``flow`` say was done."""

    words: tuple[str, ...]


def shows(feature: str, *words: str) -> Shows:
    """Speak about cases with any of ``words`` for ``effects`` or ``flow`` where some result shows how that was done."""
    return Shows(lambda subject: subject.has(feature, *words) and subject.shows(*words), ((feature, words),), words)


def about(when: Callable[[Subject], bool], *needs: Needs, **features: tuple[str, ...]) -> About:
    """Speak about the cases that ``when`` tells, all of which have what it needs: one of the words of each feature."""
    listed = (*(each for given in (needs_of(when), *needs) for each in given), *features.items())
    return Shows(when, listed, when.words) if isinstance(when, Shows) else About(when, listed)


def reductions(*ops: str, kinds: tuple[Kind, ...] = get_args(Kind)) -> Needs:
    """Return what claims need for one of some reductions of some kinds of dtypes."""
    return ("op", ops), ("reduction", tuple(f"{op} of {kind}" for op in ops for kind in kinds))


def suited(clause: Clause, suite: str, feature: str, words: tuple[str, ...]) -> Clause:
    """Return a clause as one of a suite, all of whose cases have one of the words of a feature."""
    return replace(clause, suite=suite, needs=(*clause.needs, *needs_of(clause.when), (feature, words)))


def needs_of(when: Callable[[Subject], bool]) -> Needs:
    """Return what every case has that ``when`` tells, as far as it says so."""
    return when.needs if isinstance(when, Attr | About) else ()


LEGAL: Final = ("calls", ("legal",))


def _word(value: object) -> str | None:
    """Return the word that claims have for the value of an attribute, if it has one of its own."""
    return str(value).lower() if isinstance(value, bool) else value if isinstance(value, str) else None


def shown(id: str, text: str, source: str, when: Callable[[Subject], bool]) -> Clause:
    """Return a *must* clause about the results of programs with effects, over no axis and of no operands too.

    It speaks where it is known what is right; what is folded from inputs alone is so in any order, and in the number
    model of the implementation.
    """

    def speaks(subject: Subject) -> bool:
        return subject.legal and when(subject) and not subject.unsettled

    words = when.words if isinstance(when, Shows) else ()
    return Clause(id, "must", text, speaks, admissible, source, needs=(LEGAL, *needs_of(when)), words=words)
