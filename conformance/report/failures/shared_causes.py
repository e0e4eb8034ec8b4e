"""Findings that have one cause, though clauses, words or backends tell them apart.

Two findings are one where

- one explanation is given for both, of one backend or of several ways to drive one framework, however each ended; or
- both end with the same outcome, the same class of error and the same requirement, and two ways to drive one framework
  fail alike: with one message, or in one case with the same elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from conformance.judging.cause import signature
from conformance.report.failures.findings import SCRIPTS, Finding, speaks
from conformance.report.inputs.explanations import Explanation
from conformance.runner.records.record import Failure


@dataclass(frozen=True)
class BackendFinding:
    """A finding of the backend ``label``, the failures that it is made of, and what is known of both.

    ``description`` is what the backend says of itself.
    """

    finding: Finding
    label: str
    description: Mapping[str, str]
    members: tuple[Failure, ...]
    explanation: Explanation | None = None


@dataclass(frozen=True)
class SharedFinding:
    """Findings with one cause, the first of which is shown."""

    members: tuple[BackendFinding, ...]

    @property
    def finding(self) -> Finding:
        """Return the first finding with the operations, clauses, dtypes, cases and backends of all."""
        first, all_ = self.members[0], [each.finding for each in self.members]
        told = first.explanation
        if len(all_) > 1:
            cases = {case for each in self.members for one in each.members for case in one.explains}
            shown = msgspec.structs.replace(
                first.finding,
                clauses=tuple(sorted({clause for each in all_ for clause in each.clauses})),
                ops=tuple(sorted({op for each in all_ for op in each.ops})),
                dtypes=tuple(sorted({dtype for each in all_ for dtype in each.dtypes})),
                cases=len(cases),
            )
        else:
            shown = first.finding
        others = dict.fromkeys(each.label for each in self.members if each.label != first.label)
        by_hand = f"{SCRIPTS}/{told.script}" if told and told.script else None
        says = {"explanation": told.sentence, "link": told.link, "script": by_hand} if told else {}
        return msgspec.structs.replace(shown, backend=first.label, others=tuple(others), **says)


def joined(found: Iterable[BackendFinding]) -> tuple[SharedFinding, ...]:
    """Return the findings in their order, each with the later ones that have the same cause."""
    together: list[SharedFinding] = []
    for one in found:
        for place, known in enumerate(together):
            if any(_same_cause(each, one) for each in known.members):
                together[place] = replace(known, members=(*known.members, one))
                break
        else:
            together.append(SharedFinding((one,)))
    return tuple(together)


def one_framework(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Return whether two descriptions are of one framework that is driven in two ways.

    They have the same items, of which just one has another value: the mode, the functions that are called, or a
    setting. Two implementations of one standard differ in their names and versions at least.
    """
    differing = [name for name in one if one[name] != other.get(name)]
    return one.keys() == other.keys() and len(differing) == 1 < len(one)


def _same_cause(one: BackendFinding, other: BackendFinding) -> bool:
    if not one.members or not other.members:
        return False
    alone = one.label == other.label
    if not alone and not one_framework(one.description, other.description):
        return False
    if one.explanation is not None and one.explanation is other.explanation:
        return one.finding.known == other.finding.known
    if _ended(one.finding) != _ended(other.finding):
        return False
    return not alone and not _evidence(one.members).isdisjoint(_evidence(other.members))


def _ended(found: Finding) -> tuple[object, ...]:
    return found.outcome, found.error, found.requirement, found.known


def _evidence(members: Sequence[Failure]) -> frozenset[tuple[str, ...]]:
    """Return what shows a cause: the message of an error that says something, else a case with what was found in it."""
    found: set[tuple[str, ...]] = set()
    for each in members:
        told = signature(each.outcome, each.error, each.detail)
        if speaks(told):
            found.add((told.error, told.says))
        else:
            found.add((each.op, each.clause, each.case, told.says, each.detail if each.error is None else ""))
    return frozenset(found)
