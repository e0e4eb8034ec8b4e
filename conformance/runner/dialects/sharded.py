"""The dialect ``global``: programs on sharded tensors, judged by the logical tensors that the parts make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Final

from conformance.cases.declarations.terms import Terms
from conformance.cases.graph.situations import CLASSES, trigrams
from conformance.cases.sharded.case import NAME, ShardedCase, sharded_id
from conformance.cases.sharded.codec import load_sharded, save_sharded
from conformance.cases.sharded.features import FEATURES, sharded_features
from conformance.generate.domains import SHARDED
from conformance.judging.sharded.clause import ShardedClause
from conformance.judging.sharded.steps import steps_refused
from conformance.judging.sharded.subject import ShardedSubject, sharded_meaning
from conformance.judging.sharded.verdict import judge_sharded
from conformance.judging.sharded.words import WORDS
from conformance.runner.coverage.interactions import HOLES, Trigram, rows_met
from conformance.runner.dialect import Dialect, DialectSuite, Dialogue, Facts
from conformance.runner.dialects.graph import size as size_of_graph
from conformance.runner.dialects.single_question import (
    ask_once,
    expected_among,
    has_elements,
    none_neutral,
    speaking_among,
)
from conformance.runner.records.record import Covered
from conformance.runner.reductions.sharded import sharded_leaps, sharded_reductions
from conformance.specs.sharded import CLAUSES

OP: Final = "sharded"
"""The operation that cases are recorded under."""

TOLD: Final = frozenset({"sharded.C43", "sharded.C44", "sharded.C45"})
"""Clauses about what an observation may leave out: a case alone makes none of them speak."""


OF_CASES: Final = tuple(clause for clause in CLAUSES if clause.id not in TOLD)
"""Clauses that a case makes speak, whoever answers it."""


def facts(subject: ShardedSubject) -> Facts:
    """Return what a record says of a case."""
    dtypes = sorted({node.dtype for node in subject.case.of.graph.nodes})
    return Facts(OP, (OP,), "+".join(dtypes) or "none", subject.case.world, subject.legal, {OP: _words(subject)})


def _words(subject: ShardedSubject) -> Mapping[str, frozenset[str]]:
    gathers = any(node.op == "gather" for node in subject.case.of.graph.nodes)
    index = "beyond" if subject.undefined else "inside" if gathers else "none"
    steps = "across" if subject.refusable else "inside"
    operands = "mixed" if subject.legal and _mixed(subject) else "alike"
    parts = "taken" if subject.legal and _taken(subject) else "kept"
    told = {"index": index, "steps": steps, "operands": operands, "parts": parts}
    return {**sharded_features(subject.case), **{name: frozenset({word}) for name, word in told.items()}}


def _mixed(subject: ShardedSubject) -> bool:
    """Return whether the operands of some step are split in different ways."""
    at = subject.placed.at
    return any(
        len({at[name].splits for name in node.of if at[name].splits}) > 1 for node in subject.case.of.graph.nodes
    )


def _taken(subject: ShardedSubject) -> bool:
    """Return whether some range of a split axis is one part of it, so that the other parts are not real."""
    at = subject.placed.at
    ranges = (node for node in subject.case.of.graph.nodes if node.op == "shrink")
    return any(bool(at[node.id].masks) and not at[node.of[0]].masks for node in ranges)


def clauses(op: str, terms: Terms) -> tuple[ShardedClause, ...]:
    """Return the clauses as a backend of these terms is held to them."""
    del op
    return tuple(
        replace(clause, requirement="may") if any(each.source in terms.follows for each in clause.diverges) else clause
        for clause in CLAUSES
    )


def dialogue(subject: ShardedSubject, terms: Terms) -> Dialogue:
    """Ask for the parts of a case's values, and judge them."""
    return ask_once(
        subject.case, lambda seen: judge_sharded(subject, seen, clauses(OP, terms), terms.numbers), lambda: CLAUSES[0]
    )


def size(case: ShardedCase) -> tuple[int, ...]:
    """Return how large a case is: devices and nodes first."""
    placements = [*case.homes.values(), *case.moves.values()]
    special = sum(len(each.splits) + len(each.masks) + len(each.partial) for each in placements)
    turned = sum(device != at for at, device in enumerate(case.devices))
    nodes, *rest = size_of_graph(case.of)
    return nodes, case.world, len(case.mesh), special, turned, *rest


@dataclass
class Situations:
    """Counts which words about placements and steps met in values that were drawn, and which steps came in a row.

    Any two words can meet. Steps have the classes of those of graphs, and those of illegal cases do not count.
    """

    seen: set[frozenset[str]] = field(default_factory=set)
    rows: set[Trigram] = field(default_factory=set)

    def add(self, subject: ShardedSubject) -> None:
        """Count one case."""
        self.seen.update(words.intersection(WORDS) for words in subject.traits.values())
        if subject.legal:
            self.rows.update(trigrams(subject.case.of.graph))

    def measured(self) -> dict[str, Covered]:
        """Return the shares of pairs and of triples of words that met in one value, and of three steps in a row."""
        words = {
            f"{name} of words of sharded values": self._met(count) for name, count in (("pairs", 2), ("triples", 3))
        }
        return {**words, "trigrams of sharded values": rows_met(self.rows, CLASSES)}

    def _met(self, count: int) -> Covered:
        order = [[word for word in WORDS if word in each] for each in self.seen]
        met = {each for words in order for each in combinations(words, count)}
        every = [*combinations(WORDS, count)]
        holes = tuple(" and ".join(each) for each in every if each not in met)
        return Covered(met=len(met), feasible=len(every), holes=holes[:HOLES])


SUITE: Final = DialectSuite(
    "sharding",
    "Sharded tensors, evenly or not: movement, elementwise operations, reductions and re-placement of parts.",
    {OP: SHARDED},
    share=0.5,  # 150 draws reach every clause on seed 0, the last new one at draw 70.
)

DIALECT: Final = Dialect(
    name=NAME,
    summary="Programs on sharded tensors: the parts make what the same program makes of whole tensors.",
    case=ShardedCase,
    id_of=sharded_id,
    save=save_sharded,
    load=load_sharded,
    suites={SUITE.name: SUITE},
    mean=sharded_meaning,
    facts=facts,
    clauses=clauses,
    own=clauses,
    speaking=speaking_among(OF_CASES),
    expected=expected_among(OF_CASES, OP, SUITE.name),
    dialogue=dialogue,
    probed=lambda claims, subject: OP in claims,
    features=FEATURES,
    reductions=sharded_reductions,
    neutral=none_neutral,
    size=size,
    leaps=sharded_leaps,
    length=lambda case: len(case.of.graph.nodes),
    valued=has_elements,
    counting=Situations,
    unanswered=steps_refused,
)
