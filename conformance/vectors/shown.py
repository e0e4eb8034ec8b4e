"""What a case shows: of each of its parts the clauses that speak about it, and the words that it is made of.

A deck is chosen by pairs of both: a case that brings a clause to speak about a word can see a mistake there. Where an
operation of a graph has no clause of its own, what is done (``does multiply``) stands in the place of a clause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from conformance.cases.case import Case
from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import LEAVES, Graph, Node
from conformance.cases.graph.situations import class_of
from conformance.cases.graph.situations import situations as graph_situations
from conformance.cases.graph.situations import trigrams as graph_trigrams
from conformance.cases.program.program import NO_COLLECTIVES, Step
from conformance.cases.tensor.dtypes import Array
from conformance.judging.applicability import SpeakingClause, speaking
from conformance.judging.subject import Subject
from conformance.reference.rejection import Rejected
from conformance.reference.situations import situations, trigrams
from conformance.reference.spmd import evaluate
from conformance.specs import clauses_of
from conformance.vectors.value_words import conversion_word, value_words

WHOLE: Final = ("flow", "effects", "faults", "layout", "calls")
"""The features of a whole program, which clauses about no single collective are paired with."""

TOGETHER: Final = (("dtype", "reduction"), ("dtype", "values"), ("groups", "axes"), ("place", "start"))
"""Features of a collective of which two words count as one more: mistakes are often in one dtype's one reduction."""


class Part(NamedTuple):
    """Clauses that speak about one thing, and its words."""

    clauses: frozenset[str]
    words: frozenset[str]


def program_parts(subject: Subject) -> tuple[Part, ...]:
    """Return what a program shows: each of its collectives, and the whole."""
    asked = speaking(subject, clauses_of)
    met = _collectives(subject.case)
    calls = [act.call for act in subject.acts] or [len(met) - 1]
    spoken = {each.part: calls[each.part] for each in asked if each.part is not None}
    found = [
        Part(_of(asked, {part for part, of in spoken.items() if of == call}), met[call] if met else frozenset())
        for call in sorted(set(spoken.values()))
    ]
    words = {f"{name}: {word}" for name in WHOLE for word in subject.features.words.get(name, ())}
    words |= {f"steps: {' '.join(row)}" for row in trigrams(subject.case)}
    words |= {f"operation={step.op}" for step in subject.case.program.collectives}
    return (*found, Part(_of(asked, {None}), frozenset(words)))


def _of(asked: Sequence[SpeakingClause], parts: AbstractSet[int | None]) -> frozenset[str]:
    return frozenset(each.clause.id for each in asked if each.part in parts and not each.inherited)


def _collectives(case: Case) -> list[frozenset[str]]:
    """Return the words of each collective that is come to."""
    read: list[Sequence[Any]] = []
    legal = "yes"

    def watch(_: Step, operands: Sequence[Any]) -> None:
        read.append(list(operands))

    try:
        # Ranks that are late, or die, have no meaning of their own: the same is read without.
        evaluate(replace(case, faults=()), None if case.divergent else watch)
    except Rejected:
        legal = "no"
    steps = [step for step in case.program.steps if step.op not in NO_COLLECTIVES]
    if case.divergent:
        blocks = case.blocks()
        first = next(iter(blocks.values()), [])
        read = [[blocks.get(name, first) for name in step.inputs[:1]] for step in steps]
    shared = {f"legal={legal}", *(f"trouble={'dies' if fault.delay is None else 'late'}" for fault in case.faults)}
    shared |= {"trouble=apart"} if case.divergent else set()
    met, found = situations(case, read), []
    for step in steps[: len(read)]:
        try:
            words = _joined(next(met))
        except (ValueError, StopIteration):  # impossible axes or groups
            words = {f"operation={step.op}"}
        found.append(frozenset(words | shared))
    return found


def _joined(situation: Mapping[str, str]) -> set[str]:
    words = {f"{feature}={word}" for feature, word in situation.items()}
    return words | {f"{one}={situation[one]} {other}={situation[other]}" for one, other in TOGETHER}


def graph_parts(
    graph: Graph,
    clauses: frozenset[str],
    traits: Sequence[frozenset[str]],
    more: Mapping[str, frozenset[str]],
    worth: Mapping[str, Array],
) -> tuple[Part, ...]:
    """Return what a graph shows: what its clauses speak about, and each node that is computed, with its sources.

    ``traits`` are the words of each value that is asked for; ``more`` has further words of nodes, by their ids, and
    ``worth`` what they are worth, where that is known.
    """
    rows = frozenset(f"steps: {' '.join(row)}" for row in graph_trigrams(graph))
    values = [Part(clauses, words) for words in dict.fromkeys(map(frozenset, traits))]
    # A short graph, as most are that are to be refused, has no three steps in a row.
    rows = rows or frozenset(f"last: {did(node)}" for node in graph.nodes[-1:])
    return (*values, Part(clauses, rows), *_nodes(graph, more, worth))


def _nodes(graph: Graph, more: Mapping[str, frozenset[str]], worth: Mapping[str, Array]) -> Iterator[Part]:
    nodes = {node.id: node for node in graph.nodes}
    met = iter(graph_situations(graph))
    empty = {node.id for node in graph.nodes if 0 in sizes(node.shape, graph.most)}
    counted = [node for node in graph.nodes if node.op not in LEAVES and node.id not in empty]
    words = {node.id: situation for node, situation in zip(counted, met, strict=True)}
    for node in graph.nodes:
        if node.op in LEAVES:
            continue
        found = {f"{feature}={word}" for feature, word in words.get(node.id, {}).items()}
        found |= {f"dtype: {node.dtype}", f"empty: {node.id in empty}", *more.get(node.id, ())}
        for at, name in enumerate(node.of[:3]):
            source = nodes[name]
            found |= {f"operand {at}: {did(source)}"}
            found |= {f"operand {at}: {did(source)} of {class_of(nodes[other])}" for other in source.of[:2]}
        found |= {f"from: {nodes[name].dtype}" for name in node.of[:1]}
        found |= {"operands alike"} if len(set(node.of)) < len(node.of) else set()
        found |= value_words([worth[name] for name in node.of[:2] if name in worth], worth.get(node.id))
        if node.op == "cast" and node.id in worth and node.of[0] in worth:
            found.add(conversion_word(worth[node.of[0]], worth[node.id]))
        found |= {f"{word} constant" for word in _constants(node, nodes, worth)}
        yield Part(frozenset({did(node)}), frozenset(found))


def _constants(node: Node, nodes: Mapping[str, Node], worth: Mapping[str, Array]) -> set[str]:
    """Return which kinds of constants a node takes, and as which operand."""
    return {
        f"operand {at} {word}"
        for at, name in enumerate(node.of[:3])
        if nodes[name].op == "const" and name in worth
        for word in value_words([worth[name]], None)
    }


def did(node: Node) -> str:
    """Return what a node does, in words that stand in the place of a clause."""
    what = node.arg if node.op in ("alu", "collective") else node.fold
    return f"does {node.op} {what}".rstrip()
