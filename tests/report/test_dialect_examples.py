"""Cases that are no programs of collectives, made readable."""

from __future__ import annotations

import numpy as np

from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.program.program import Axis
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Placement, Split
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.cases.types.typed_case import Level, TypedCase
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.report.failures.case_example import example
from conformance.report.failures.example import Example


def node(id: str, op: str, *of: str, **rest: object) -> Node:
    return Node(id=id, op=op, of=of, shape=(2,), dtype="int32", device="d0", **rest)


def held(*numbers: int) -> Tensor:
    return from_array(np.array(numbers, np.int32))


def elements(shown: Example, which: str) -> dict[str, list[str]]:
    return {value.name: [block.values for block in value.blocks] for value in getattr(shown, which)}


def twice() -> GraphCase:
    nodes = (node("b", "buf", arg="b"), node("y", "alu", "b", "b", arg="add"))
    rounds = (Round(until=1, asked=("b",)), Round(until=2, writes={"b": held(5, 6)}, asked=("y",), read=("b",)))
    return GraphCase(graph=Graph(nodes=nodes, results=("b", "y")), buffers={"b": held(1, 2)}, rounds=rounds)


def test_a_graph_is_shown_round_by_round() -> None:
    shown = example(twice())
    assert shown.steps == (
        "round 0",
        'b = buf("b"): int32[2] on d0',
        "return 0/b",
        "round 1",
        "write b: int32[2] [5, 6]",
        "y = add(b, b): int32[2] on d0",
        "return 1/y, 1/buffer/b",
    )
    assert elements(shown, "inputs") == {"b": ["[1, 2]"]}
    assert elements(shown, "expected") == {"0/b": ["[1, 2]"], "1/y": ["[10, 12]"], "1/buffer/b": ["[5, 6]"]}


def test_sharded_tensors_are_shown_with_their_placements() -> None:
    split = Placement(splits=(Split(axis=0, along=("i",), cuts=(0, 1, 2)),))
    shown = example(ShardedCase(mesh=(Axis("i", 2),), devices=(1, 0), of=twice(), homes={"b": split}))
    assert shown.mesh == "i = 2, devices 1, 0"
    assert shown.steps[1] == 'b = buf("b"): int32[2] at {"splits":[{"axis":0,"along":["i"],"cuts":[0,1,2]}]}'
    assert elements(shown, "expected")["1/y"] == ["[10, 12]"]


def test_a_constant_is_shown_by_its_number() -> None:
    one = node("c", "const", arg=from_array(np.array(1, np.int32)))
    shown = example(
        GraphCase(graph=Graph(nodes=(one,), results=("c",)), buffers={}, rounds=(Round(until=1, asked=("c",)),))
    )
    assert shown.steps[0] == "c = const(1): int32[2] on d0"


def test_a_collective_of_a_graph_is_shown_with_its_members() -> None:
    shared = node("c", "collective", "b", "b", arg="all_reduce", attrs={"op": "sum"}, members=("d0", "d1"))
    graph = Graph(nodes=(node("b", "buf", arg="b"), shared), results=("c",))
    shown = example(GraphCase(graph=graph, buffers={"b": held(1, 2)}, rounds=(Round(until=2, asked=("c",)),)))
    assert shown.steps[1] == 'c = all_reduce(b, b, op="sum") among d0 d1: int32[2] on d0'


def typed(**asked: object) -> TypedCase:
    given = TypedInput(dtype="int32", shape=(2,), varying=("i",))
    step = TypedStep(op="all_reduce", inputs=("a",), output="v", axes=("i",), attrs={"op": "sum"})
    program = TypedProgram(mesh=(Axis("i", 2),), inputs={"a": given}, steps=(step,), results=("v",), automatic=False)
    return TypedCase(program=program, inputs={"a": (held(1, 2), held(3, 4))}, **asked)


def test_a_typed_program_is_shown_with_its_types_and_values() -> None:
    shown = example(typed())
    assert shown.steps == (
        "no cast is automatic",
        "a: int32[2] varying along i",
        'v = all_reduce(a, op="sum") over i',
        "return v",
    )
    assert elements(shown, "expected") == {"v": ["[4, 6]"]}


def test_cotangents_and_levels_are_shown() -> None:
    back = example(typed(cotangents={"v": (held(7, 8),) * 2}))
    assert back.steps[-1] == "return the cotangents of a"
    assert elements(back, "expected") == {"cotangent of a": ["[7, 8]"]}
    mapped = example(typed(batch=(Level(name="p", size=1, inputs={}),)))
    assert mapped.steps[1] == "level p = 1: axis 0 of each result"
