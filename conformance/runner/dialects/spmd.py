"""The dialect of programs that every rank runs: collectives, storage and what befalls ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, get_origin

from conformance.backends.base import Claims
from conformance.backends.claim_limits import unasked
from conformance.cases.case import Case, case_id
from conformance.cases.case_error import CaseError
from conformance.cases.codec import load, save
from conformance.cases.declarations.terms import Terms
from conformance.cases.program.feature_words import (
    COUNTED,
    OF_NUMBER,
    OF_TRUTH,
    OF_TUPLE,
    PARTIAL,
    REDUCTIONS,
    UNKNOWN,
    WORDS,
    reduction_words,
)
from conformance.cases.program.program import NO_COLLECTIVES
from conformance.generate.suites import DOMAINS, SHARES, WEIGHT
from conformance.judging.applicability import speaking as asked_about
from conformance.judging.subject import Subject
from conformance.reference.operations import TABLE
from conformance.reference.spmd import ATTRIBUTES
from conformance.runner.coverage.coverage import Coverage
from conformance.runner.dialect import Ask, CompanyOf, Dialect, DialectSuite, Dialogue, Facts
from conformance.runner.meaning import all_binding, binding, meaning, verdict
from conformance.runner.records.record import Covered
from conformance.runner.reductions.leaps import program_leaps
from conformance.runner.reductions.neutral_moves import empty, neutral
from conformance.runner.reductions.prefixes import heads, parts
from conformance.runner.reductions.programs import reductions
from conformance.runner.reductions.size import size
from conformance.specs import OPS, SUITES, clauses_of


def mean(case: Case) -> Subject:
    """Return what a program means; raise ``CaseError`` where no clause could speak about it, or it is malformed."""
    ops = [step.op for step in case.program.collectives]
    unknown = [op for op in ops if op not in OPS]
    if unknown or not ops:
        what = f": there is no {unknown[0]!r:.80}" if unknown else ""
        raise CaseError(f"it has no step of a known operation, so no clause speaks about it{what}")
    return meaning(case)


def facts(subject: Subject) -> Facts:
    """Return what a record says of a program, recorded under its last collective."""
    return Facts(
        op=subject.step.op,
        ops=_ops(subject),
        dtype="+".join(sorted(subject.features.words["dtype"])),
        world=subject.case.program.world,
        legal=subject.legal,
        features=subject.features.by_op,
    )


def dialogue(subject: Subject, terms: Terms) -> Dialogue:
    """Ask for the results of a program."""
    answer = yield Ask(subject.case)
    return verdict(subject, answer, terms)


def probed(claims: Claims, subject: Subject) -> bool:
    """Return whether a program is asked for by whoever claims its operations, be it outside their claims."""
    return not unasked(claims, _ops(subject), subject.features.words)


def speaking(subject: Subject) -> frozenset[str]:
    """Return the ids of the clauses that speak about a program."""
    return frozenset(asked.clause.id for asked in asked_about(subject, clauses_of))


def expected(ops: Sequence[str], suites: Sequence[str]) -> frozenset[str]:
    """Return the ids of the clauses that programs must trigger: shared ones only where every operation runs."""
    own = {clause.id for op in ops for clause in OPS[op].clauses}
    whole = {clause.id: clause for op in ops for clause in clauses_of(op)}
    every = len(ops) == len(OPS)
    return frozenset(name for name, clause in whole.items() if clause.suite in suites and (name in own or every))


def valued(subject: Subject) -> bool:
    """Return whether a program has a result with an element, or calls what by its nature has none.

    Over no axis nobody calls anything, and what is mapped over no operand gives nothing.
    """
    called = [step for step in subject.case.program.collectives if not step.idle]
    given = (block for blocks in subject.expected.values() for block in blocks if block is not None)
    silent = any(not step.outputs and not TABLE[step.op].operands for step in called)
    return bool(called) and (silent or any(block.size for block in given))


def company(subject: Subject) -> CompanyOf | None:
    """Return the devices of a legal program that is a function of its inputs, and the bytes of its values."""
    case = subject.case
    effects = any(step.op in NO_COLLECTIVES or step.into or step.start for step in case.program.steps)
    if not subject.legal or case.troubled or effects:
        return None
    values = (block for blocks in subject.expected.values() for block in blocks if block is not None)
    return CompanyOf("programs", case.program.world, case.size + sum(block.nbytes for block in values))


@dataclass(frozen=True)
class ProgramCounts:
    """Counts which words of the table of features met in one collective, and which steps in a row."""

    coverage: Coverage = field(default_factory=Coverage)

    def add(self, subject: Subject) -> None:
        """Count one program."""
        self.coverage.add(subject.case)

    def measured(self) -> dict[str, Covered]:
        """Return the shares of pairs, triples and trigrams."""
        return self.coverage.measured()


def _ops(subject: Subject) -> tuple[str, ...]:
    return tuple(step.op for step in subject.case.program.collectives)


def _attribute_words(name: str, kind: Any) -> tuple[str, ...]:
    words = OF_TUPLE if get_origin(kind) is tuple else {bool: OF_TRUTH, int: OF_NUMBER}.get(kind, ())
    return (*words, PARTIAL[name]) if name in PARTIAL else words


FEATURES: Final[Mapping[str, tuple[str, ...]]] = {
    **{name: _attribute_words(name, kind) for kinds in ATTRIBUTES.values() for name, kind in kinds.items()},
    **WORDS,
    **dict.fromkeys(COUNTED, ()),
    "op": (*REDUCTIONS, UNKNOWN),
    "value": (*OF_TRUTH, *OF_NUMBER),
    "reduction": reduction_words(),
}
"""Every feature and its words. An operation may be limited in what only others have: programs have several."""

DIALECT: Final = Dialect(
    name="spmd",
    summary="Programs of collectives: every rank holds a block and runs the same steps.",
    case=Case,
    id_of=case_id,
    save=save,
    load=load,
    suites={
        name: DialectSuite(name, suite.summary, DOMAINS[name], SHARES[name], WEIGHT) for name, suite in SUITES.items()
    },
    mean=mean,
    facts=facts,
    clauses=all_binding,
    own=binding,
    speaking=speaking,
    expected=expected,
    dialogue=dialogue,
    probed=probed,
    features=FEATURES,
    reductions=reductions,
    neutral=neutral,
    size=size,
    counting=ProgramCounts,
    empty=empty,
    valued=valued,
    slow=lambda case: case.troubled,
    leaps=program_leaps,
    length=lambda case: len(case.program.steps),
    heads=heads,
    parts=parts,
    company=company,
)
