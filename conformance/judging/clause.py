"""Clauses: numbered, testable sentences about what a case means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, Protocol

from conformance.cases.case import Case
from conformance.cases.declarations.guarantees import Guarantee
from conformance.cases.declarations.number_model import STANDARD, NumberModel
from conformance.cases.declarations.terms import Terms
from conformance.cases.observation import Observation
from conformance.cases.program.effect_words import effect_words
from conformance.cases.program.features import Features, features
from conformance.cases.program.program import Groups, Step, rank_groups
from conformance.cases.tensor.dtypes import Array
from conformance.judging.acts import Act, acts
from conformance.judging.numbers.arithmetic import arithmetic
from conformance.judging.numbers.column import Column
from conformance.judging.numbers.contributions import Folded, contributions, unlike_columns
from conformance.judging.numbers.order import choices_show, order_shows
from conformance.judging.relations import Elements, elements
from conformance.reference.rejected import Rejected

Requirement = Literal["must", "should", "may"]
Settled = Mapping[str, Sequence[Array | None]]
"""For each result and rank which elements, as bools in the block's shape; ``None`` where a rank has no meaning."""

Held = Literal["held", "broken", "diverges"]
"""What a clause that speaks says of an observation; it ``diverges`` where a source that the backend follows does."""

Outcome = Literal[
    "passed", "failed", "errored", "crashed", "timeout", "protocol_error", "adapter_error", "unsupported", "not_run"
]


class AnyClause(Protocol):
    """What is common to the clauses of every dialect of cases; see ``Clause``."""

    @property
    def id(self) -> str:
        """Return the id, the family or operation before the number."""

    @property
    def requirement(self) -> Requirement:
        """Return how binding it is."""

    @property
    def text(self) -> str:
        """Return the sentence."""

    @property
    def source(self) -> str:
        """Return who says so."""

    @property
    def suite(self) -> str:
        """Return the suite whose cases trigger it."""

    @property
    def general(self) -> bool:
        """Return whether every case triggers it."""

    @property
    def variant(self) -> bool:
        """Return whether it is about one value of an option that every case has."""

    @property
    def plain(self) -> bool:
        """Return whether that value is the plain one."""


@dataclass(frozen=True)
class Subject:
    """A case and what it means: the blocks of every result, or the clause it breaks.

    Where it is a ``part_of`` another, its case is one collective of that one's as a program of its own, and
    ``expected`` has the results that it made there. ``numbers`` is the number model that results are judged in.
    """

    case: Case
    expected: dict[str, list[Array | None]] = field(default_factory=dict)
    rejected: Rejected | None = None
    part_of: Subject | None = None
    numbers: NumberModel = STANDARD

    @cached_property
    def parts(self) -> tuple[Subject, ...]:
        """Return the collectives of the program, each a subject of its own; itself where it is not taken apart."""
        return tuple(
            Subject(
                act.alone,
                {name: self.expected[name] for name in act.results},
                part_of=self,
                numbers=self.numbers,
            )
            for act in self.acts
        ) or (self,)

    @cached_property
    def acts(self) -> tuple[Act, ...]:
        """Return what tells the parts apart; nothing where there are none."""
        return acts(self.case) if self.legal and self.part_of is None else ()

    def under(self, numbers: NumberModel) -> Subject:
        """Return the subject as it is judged in a number model; what is known of it either way is kept."""
        return self if numbers == self.numbers else _beside(self, numbers, self.part_of)

    @property
    def whole(self) -> Subject:
        """Return what it is a part of, or itself."""
        return self.part_of or self

    @cached_property
    def features(self) -> Features:
        """Return the facts of the case, and by ``calls`` whether it is ``legal`` or ``illegal``."""
        return features(self.case) | {"calls": frozenset({"legal" if self.legal else "illegal"})}

    @cached_property
    def features_by_op(self) -> dict[str, Features]:
        """Return the facts that each operation of the program meets: of its own operands, steps and effects.

        Storage is the program's, so its layouts and what happens to it are there for all; so is everything where a
        program is not taken apart.
        """
        if not self.acts:
            return {step.op: self.features for step in self.case.program.collectives}
        found: dict[str, Features] = {}
        for part in self.parts:
            op = part.step.op
            shared = {name: self.features[name] for name in ("layout", "flow", "faults")}
            known = found.get(op) or shared | {"effects": effect_words(self.case, op)[0]}
            own = {name: words | known.get(name, frozenset()) for name, words in part.features.items()}
            found[op] = known | own
        return found

    @cached_property
    def folded(self) -> dict[str, Folded]:
        """Return what the elements of results are folded from that are folded from inputs."""
        if self.part_of is not None:
            return {name: each for name, each in self.part_of.folded.items() if name in self.expected}
        return contributions(self.case)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Return the different columns of terms that a legal reduction of floats folds; see ``judging.column``."""
        return unlike_columns(self.folded.values()) if self.legal else ()

    @property
    def legal(self) -> bool:
        """Return whether the program has a meaning."""
        return self.rejected is None

    @cached_property
    def step(self) -> Step:
        """Return the last collective, the step that clauses of an operation speak about."""
        return self.case.program.collectives[-1]

    @cached_property
    def groups(self) -> Groups:
        """Return the groups of the step as ranks; only for steps whose axes the mesh has."""
        return rank_groups(self.case.program.mesh, self.step.axes, self.step.groups)

    @cached_property
    def order_shows(self) -> bool:
        """Return whether the order in which members are taken may show in a result, so that several are right."""
        return self.legal and order_shows(self.case)

    @cached_property
    def unsettled(self) -> bool:
        """Return whether several values are right and nothing says which: only laws between results speak of them."""
        made = arithmetic(self.whole.case.program).intersection(self.expected)
        whole = self.whole
        if not self.legal or made <= self.folded.keys():
            return False
        return whole.order_shows or choices_show(whole.case, whole.numbers)

    @cached_property
    def elements(self) -> Elements:
        """Return the elements that laws compare, of the results of the step's operation; only for legal cases."""
        return elements(self.case, self.step.op)

    @cached_property
    def spoke(self) -> dict[str, bool]:
        """Return which clauses, by id, were asked whether they speak, and what they said: no answer changes it."""
        return {}

    @cached_property
    def settled(self) -> dict[str, Settled | None]:
        """Return which elements clauses, by id, were found to settle."""
        return {}

    def has(self, feature: str, *words: str) -> bool:
        """Return whether ``feature`` has any of ``words``."""
        return not self.features.get(feature, frozenset()).isdisjoint(words)


@dataclass(frozen=True)
class Divergence:
    """What a source says where a clause says something else.

    ``shown`` tells whether an observation is what the source says. For a backend that follows the ``source`` the clause
    then is neither held nor broken: the divergence is recorded, and nothing else is asked of the values.
    """

    source: str
    text: str
    shown: Callable[[Subject, Observation], bool]


def _beside(subject: Subject, numbers: NumberModel, part_of: Subject | None) -> Subject:
    """Return a copy that is judged in another number model, with what was found out about the subject."""
    beside = copy(subject)
    known = vars(beside)
    known |= {"numbers": numbers, "part_of": part_of}
    known.pop("unsettled", None)
    parts = known.pop("parts", None)
    if beside.legal and beside.unsettled != subject.unsettled:
        known.pop("spoke", None)
    if parts is not None:
        known["parts"] = tuple(beside if part is subject else _beside(part, numbers, beside) for part in parts)
    return beside


@dataclass(frozen=True)
class Clause:
    """One sentence. ``check`` returns ``None`` when it holds, else what was seen and what was expected.

    A ``variant`` clause speaks about one value of an option that every case has (tiled or not, sum or
    max); it is blamed before a ``general`` clause and after a particular one, last where the value is a ``plain`` one,
    with which shrinking ends. A clause for ``each`` collective speaks
    about one and the results that it made, any other about the whole program. The clause of a ``guarantee`` is a *may*
    of the specification, and a *must* for the backends that give it (``held_to``); its source is their word.

    A *should* or *may* about values settles whether there is a value at all, unless ``settles`` tells the elements that
    it is about: then every *must* holds for all others, and for there being an answer.

    ``diverges`` lists what sources say otherwise; ``admitted`` are those of them that a backend follows (``held_to``).
    """

    id: str
    requirement: Requirement
    text: str
    when: Callable[[Subject], bool]
    check: Callable[[Subject, Observation], str | None]
    source: str
    suite: str = "collectives"
    variant: bool = False
    plain: bool = False
    general: bool = False
    each: bool = False
    guarantee: Guarantee | None = None
    settles: Callable[[Subject], Settled | None] | None = None
    diverges: tuple[Divergence, ...] = ()
    admitted: tuple[Divergence, ...] = ()


def held_to(clauses: Sequence[Clause], terms: Terms) -> tuple[Clause, ...]:
    """Return ``clauses`` as a backend of these ``terms`` is held to them."""
    return tuple(_held_to(clause, terms) for clause in clauses)


def _held_to(clause: Clause, terms: Terms) -> Clause:
    admitted = tuple(each for each in clause.diverges if each.source in terms.follows)
    must = clause.guarantee in terms.guarantees
    if not admitted and not must:
        return clause
    return replace(clause, requirement="must" if must else clause.requirement, admitted=admitted)


def legal(subject: Subject) -> bool:
    """Speak about every program that has a meaning."""
    return subject.legal


def always(subject: Subject) -> bool:  # noqa: ARG001 - the signature of ``Clause.when``
    """Speak about every case."""
    return True
