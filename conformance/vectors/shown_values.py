"""What cases of the other dialects show: graphs, programs on sharded tensors, and typed programs."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import Graph
from conformance.cases.sharded.features import placement_words, sharded_features
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_program import TypedStep
from conformance.judging.graphs.subject import GraphSubject
from conformance.judging.sharded.subject import ShardedSubject
from conformance.judging.subject import Subject
from conformance.reference.situations import groups_word, members_word
from conformance.reference.transforms.meaning import TypedMeaning
from conformance.specs.graphs import CLAUSES as OF_GRAPHS
from conformance.specs.sharded import CLAUSES as OF_SHARDED
from conformance.specs.types.verdict import speaking as typed_speaking
from conformance.vectors.shown import Part, graph_parts, program_parts
from conformance.vectors.value_words import node_values


def parts_of(subject: object) -> tuple[Part, ...]:
    """Return what a case with its meaning shows; of a schedule that is asked for, its graph is the subject.

    Raise ``TypeError`` for anything else.
    """
    if isinstance(subject, Subject):
        return program_parts(subject)
    if isinstance(subject, GraphSubject):
        clauses = frozenset(clause.id for clause in OF_GRAPHS if clause.when(subject))
        worth = node_values(subject.case) if subject.legal else {}
        return graph_parts(subject.graph, clauses, list(subject.traits.values()), {}, worth)
    if isinstance(subject, ShardedSubject):
        return _sharded(subject)
    if isinstance(subject, TypedMeaning):
        return _typed(subject)
    if isinstance(subject, Graph):
        return graph_parts(subject, frozenset(), (), {}, {})
    raise TypeError(f"{type(subject).__name__} is no case with its meaning")


def _sharded(subject: ShardedSubject) -> tuple[Part, ...]:
    clauses = frozenset(clause.id for clause in OF_SHARDED if clause.when(subject))
    words = {f"{name}: {word}" for name, several in sharded_features(subject.case).items() for word in several}
    whole = Part(clauses, frozenset(words))
    graph = subject.case.of.graph
    if not subject.legal:
        return (whole, *graph_parts(graph, clauses, (), {}, {}))
    at, mesh = subject.placed.at, subject.case.mesh
    shapes = {node.id: tuple(map(int, sizes(node.shape, graph.most))) for node in graph.nodes}
    placed = {name: placement_words(placement, shapes[name], mesh) for name, placement in at.items()}
    more = {
        node.id: frozenset(
            {f"placed: {word}" for word in placed[node.id]}
            | {f"operand {number} placed: {word}" for number, name in enumerate(node.of[:3]) for word in placed[name]}
        )
        for node in graph.nodes
    }
    worth = node_values(subject.case.of)
    return (whole, *graph_parts(graph, clauses, list(subject.traits.values()), more, worth))


def _typed(meaning: TypedMeaning) -> tuple[Part, ...]:
    clauses = frozenset(clause.id for clause in typed_speaking(meaning))
    program, kind = meaning.case.program, meaning.case.kind
    words = {f"kind: {kind}", f"checked: {program.checked}", f"automatic: {program.automatic}"}
    words |= {f"mapped: {'all' if program.mapped is None else 'some'}", f"mesh: {len(program.mesh)}"}
    words |= {f"levels: {len(meaning.case.batch)}", f"refused: {meaning.refused is not None}"}
    words |= {f"no rule: {meaning.no_rule is not None}", *(f"step: {_did(step)}" for step in program.steps)}
    pairs = zip(program.steps, program.steps[1:], strict=False)
    rows = {f"steps: {_did(one)}, {_did(other)}" for one, other in pairs}
    return (Part(clauses, frozenset(words | rows)), *_steps(meaning, kind))


def _steps(meaning: TypedMeaning, kind: str) -> Iterator[Part]:
    program = meaning.case.program
    sizes_of = {axis.name: axis.size for axis in program.mesh} | {
        level.name: level.size for level in meaning.case.batch
    }
    names = {level.name for level in meaning.case.batch}
    dtypes = {name: given.dtype for name, given in program.inputs.items()}
    for step in program.steps:
        dtypes[step.output] = dtypes.get(step.inputs[0], "none") if step.inputs else "index"
        words = {f"dtype: {dtypes[step.output]}", f"groups: {groups_word(step.groups)}", f"axes: {len(step.axes)}"}
        words |= {f"axis: {'level' if axis in names else 'mesh'}" for axis in step.axes}
        words |= {f"members: {members_word(sizes_of.get(axis, 0))}" for axis in step.axes}
        words |= {f"{name}={_short(value)}" for name, value in step.attrs.items()}
        words |= {f"started: {step.start}", f"operands: {len(set(step.inputs))} of {len(step.inputs)}"}
        if step.start:
            words |= {f"dones: {sum(each.op == 'done' and step.output in each.inputs for each in program.steps)}"}
        for number, name in enumerate((*step.inputs[:2], step.output)):
            what = "result" if number == len(step.inputs[:2]) else f"operand {number}"
            words |= {f"{what}: {state}" for state in _states(meaning.types.get(name), step, list(sizes_of))}
        yield Part(frozenset({f"{kind} {_did(step)}"}), frozenset(words))


def _states(given: AxisType | None, step: TypedStep, axes: list[str]) -> set[str]:
    if given is None:
        return set()
    return {f"{given.state(axis)} {'along' if axis in step.axes else 'elsewhere'}" for axis in axes}


def _did(step: TypedStep) -> str:
    return f"does {step.op} {step.attrs.get('op', '')}".rstrip()


def _short(value: object) -> str:
    """Return what kind of value an attribute has."""
    if isinstance(value, bool | str) or value is None:
        return str(value)
    if isinstance(value, int):
        return "negative" if value < 0 else str(min(value, 2))
    return f"{len(value)} of them" if isinstance(value, tuple | list) else "number"
