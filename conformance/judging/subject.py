"""A case with what it means, as clauses look at it: the whole program, or one of its collectives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from weakref import ReferenceType, ref

from conformance.cases.case import Case
from conformance.cases.declarations.number_model import STANDARD, NumberModel
from conformance.cases.program.computing import computes
from conformance.cases.program.computing_words import computing_witnesses
from conformance.cases.program.effect_words import effect_witnesses
from conformance.cases.program.effects import names
from conformance.cases.program.program import Groups, Step, rank_groups
from conformance.cases.program.witnesses import Uses, Witnesses, uses
from conformance.cases.program.witnesses import made as made_by
from conformance.cases.tensor.dtypes import Array
from conformance.judging.case_features import CaseFeatures
from conformance.judging.collectives import Act, acts, computed_results
from conformance.judging.graphs.values import bounded, settled
from conformance.judging.numbers.arithmetic import arithmetic
from conformance.judging.numbers.computed import bounding_values
from conformance.judging.numbers.computed_nans import computed_nans
from conformance.judging.numbers.folds import Folds
from conformance.judging.numbers.open_elements import open_elements, scaled_elements
from conformance.judging.relations import Elements, elements
from conformance.reference.rejection import Rejected

ElementMasks = Mapping[str, Sequence[Array | None]]
"""For each result and rank which elements, as bools in the block's shape; ``None`` where a rank has no meaning."""


@dataclass(frozen=True)
class ClauseMemo:
    """What clauses, by id, were asked about a subject and said: no answer of a backend changes it."""

    spoke: dict[str, bool] = field(default_factory=dict)
    masks: dict[str, ElementMasks | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Subject:
    """A case and what it means: the blocks of every result, or the clause it breaks.

    Where it is a ``part_of`` another, its case is one collective of that one's, of one operand, as a program of its
    own, and ``expected`` has the results that it made there. ``called`` has the facts of that collective: all its
    operands. ``numbers`` is the number model that results are judged in.

    A part lives no longer than what it is a part of, and does not keep it: a case of 70 MB goes when nobody has it.
    """

    case: Case
    expected: dict[str, list[Array | None]] = field(default_factory=dict)
    rejected: Rejected | None = None
    of: ReferenceType[Subject] | None = None
    numbers: NumberModel = STANDARD
    alone: tuple[Case, ...] | None = None
    """Its collectives as programs of their own, where they are known already."""
    called: Case | None = None

    @property
    def legal(self) -> bool:
        """Return whether the program has a meaning."""
        return self.rejected is None

    @property
    def part_of(self) -> Subject | None:
        """Return what it is a part of, if it is one."""
        if self.of is None:
            return None
        whole = self.of()
        assert whole is not None
        return whole

    @property
    def whole(self) -> Subject:
        """Return what it is a part of, or itself."""
        return self.part_of or self

    @cached_property
    def step(self) -> Step:
        """Return the last collective, the step that clauses of an operation speak about."""
        return self.case.program.collectives[-1]

    @cached_property
    def groups(self) -> Groups:
        """Return the groups of the step as ranks; only for steps whose axes the mesh has."""
        return rank_groups(self.case.program.mesh, self.step.axes, self.step.groups)

    @cached_property
    def acts(self) -> tuple[Act, ...]:
        """Return what tells the parts apart; nothing where there are none."""
        return acts(self.case, self.alone) if self.legal and self.of is None else ()

    @cached_property
    def computed(self) -> frozenset[str]:
        """Return the results that steps computed; only for legal cases."""
        return computed_results(self.case) if computes(self.case.program) else frozenset()

    @cached_property
    def in_order(self) -> tuple[str, ...]:
        """Return the results in the order of the steps that name them, inputs first."""
        steps = self.case.program.steps
        made = {name: index for index, step in enumerate(steps) for name in step.outputs}
        return tuple(sorted(self.case.program.results, key=lambda name: made.get(name, -1)))

    @property
    def parts(self) -> tuple[Subject, ...]:
        """Return the collectives of the program, operand by operand; itself where it is not taken apart."""
        return self._taken or (self,)

    @cached_property
    def _taken(self) -> tuple[Subject, ...]:
        return tuple(self._part(act) for act in self.acts)

    @cached_property
    def features(self) -> CaseFeatures:
        """Return the facts of the case that claims limit; of a part those of its collective on all its operands."""
        calls = {act.call: part.features for act, part in zip(self.acts, self._taken, strict=True)}
        return CaseFeatures(self.called or self.case, self.legal, tuple(calls.values()))

    @cached_property
    def folds(self) -> Folds:
        """Return what its results are folded from."""
        whole = self.part_of.folds if self.part_of is not None else None
        return Folds(self.case, self.legal, self.expected.keys(), whole)

    @cached_property
    def elements(self) -> Elements:
        """Return the elements that laws compare, of the results of the step's operation; only for legal cases."""
        return elements(self.case, self.step.op)

    @cached_property
    def open(self) -> ElementMasks:
        """Return which elements have several right values: laws speak of them, and the bounds of a graph."""
        if not self.legal:
            return {}
        if self.part_of is not None:
            return {name: masks for name, masks in self.part_of.open.items() if name in self.expected}
        return open_elements(self.case, self.expected, self.numbers, self.folds)

    @cached_property
    def scaled(self) -> ElementMasks:
        """Return which elements of the program's results the number model scales otherwise than its graph does."""
        return scaled_elements(self.case, self.expected, self.numbers) if self.whole is self else self.whole.scaled

    @cached_property
    def computed_nans(self) -> ElementMasks:
        """Return which elements of the results hold a NaN that arithmetic made, of which any is right."""
        return computed_nans(self.case) if arithmetic(self.case.program) else {}

    @cached_property
    def told(self) -> frozenset[str]:
        """Return the results of which something is known: not of every element that it may be anything."""
        return frozenset(name for name in self.expected if not self._open(name) or self._bounded(name))

    @property
    def unsettled(self) -> bool:
        """Return whether there are results, all elements are open, and nothing is known of any."""
        return bool(self.open) and not self.told

    def _open(self, name: str) -> bool:
        return name in self.open and all(mask is None or mask.all() for mask in self.open[name])

    def _bounded(self, name: str) -> bool:
        """Return whether the program's graph says something of such an element."""
        known = bounding_values(self.whole.case, self.numbers).get(name, ())
        return any(settled(each) or bounded(each) for each in known if each is not None)

    @cached_property
    def witnesses(self) -> Witnesses:
        """Return what shows whether what its words of ``effects`` and ``flow`` say was done rightly."""
        effects, flow = effect_witnesses(self.case)
        return effects | flow | (computing_witnesses(self.case) if computes(self.case.program) else {})

    @cached_property
    def uses(self) -> Uses:
        """Return what the results are made of of which something is known; only for legal cases."""
        return uses(self.case, self.told)

    def shows(self, *words: str) -> bool:
        """Return whether some result shows whether what one of some words of ``effects`` or ``flow`` says was right."""
        return any(self.uses.tell(each) for word in words for each in self.witnesses.get(word, ()))

    def shows_step(self, index: int) -> bool:
        """Return whether some result is made of what a step makes."""
        made = made_by(names(self.case), index, self.case.program.steps[index])
        return any(self.uses.tell(each) for each in made)

    @cached_property
    def asked(self) -> ClauseMemo:
        """Return what clauses said so far of whether they speak about it."""
        return ClauseMemo()

    def has(self, feature: str, *words: str) -> bool:
        """Return whether ``feature`` has any of ``words``."""
        return self.features.has(feature, *words)

    def _part(self, act: Act) -> Subject:
        made = {name: self.expected[name] for name in act.results}
        # What alone is in the program has its storage and effects, too.
        lone = len(self.case.program.collectives) == 1 and not computes(self.case.program)
        return Subject(act.alone, made, of=ref(self), numbers=self.numbers, called=self.case if lone else act.called)


def under(subject: Subject, numbers: NumberModel) -> Subject:
    """Return the subject as it is judged in a number model; what is known of it either way is kept."""
    return subject if numbers == subject.numbers else _beside(subject, numbers, subject.of)


def only(subject: Subject, names: AbstractSet[str]) -> Subject:
    """Return the subject of which these results alone are asked for; what is known of it otherwise is kept."""
    fewer = copy(subject)
    known = vars(fewer)
    known |= {
        "expected": {name: blocks for name, blocks in subject.expected.items() if name in names},
        "open": {name: masks for name, masks in subject.open.items() if name in names},
        "asked": ClauseMemo(masks=subject.asked.masks),
    }
    for name in ("told", "uses"):
        known.pop(name, None)
    return fewer


def _beside(subject: Subject, numbers: NumberModel, of: ReferenceType[Subject] | None) -> Subject:
    """Return a copy that is judged in another number model, with what was found out about the subject."""
    beside = copy(subject)
    known = vars(beside)
    known |= {"numbers": numbers, "of": of}
    for name in ("open", "scaled", "told", "uses"):
        known.pop(name, None)
    parts = known.pop("_taken", None)
    if beside.legal and beside.told != subject.told:
        known["asked"] = ClauseMemo(masks=subject.asked.masks)
    if parts is not None:
        known["_taken"] = tuple(_beside(part, numbers, ref(beside)) for part in parts)
    return beside
