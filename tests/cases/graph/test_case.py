"""The file of a graph case: what is written is read back, and what says nothing definite is refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from msgspec.structs import replace

from conformance.cases.case_error import CaseError
from conformance.cases.graph.case import GraphCase, Round, graph_case_id, keys
from conformance.cases.graph.codec import load_graph, save_graph
from conformance.cases.graph.graph import Function, Graph, Node, Variable
from conformance.cases.graph.schema import graph_case_schema
from conformance.cases.graph.validate import validate_graph
from conformance.cases.schemas import FOLDER, written
from conformance.cases.tensor.tensor import from_array

ONE = from_array(np.array(1, np.float32))


def node(id: str, op: str, *of: str, shape: tuple[Any, ...] = (4,), **rest: Any) -> Node:
    kept = {"dtype": "float32", "device": "d0"} | rest
    return Node(id=id, op=op, of=of, shape=shape, **kept)  # type: ignore[arg-type]  # fields of a node


def case(*nodes: Node, asked: tuple[str, ...], rounds: tuple[Round, ...] = (), **rest: Any) -> GraphCase:
    return GraphCase(
        graph=Graph(nodes=(node("a", "buf", arg="a"), *nodes), results=asked, **rest),
        buffers={"a": from_array(np.arange(4, dtype=np.float32))},
        rounds=rounds or (Round(until=len(nodes) + 1, asked=asked),),
    )


def two_rounds() -> GraphCase:
    """Return b = a + 1, of which c = -b is made after something else was written into a."""
    nodes = (node("1", "const", arg=ONE), node("b", "alu", "a", "1", arg="add"), node("c", "alu", "b", arg="neg"))
    fresh = from_array(np.full(4, np.nan, np.float32))
    rounds = (Round(until=3, read=("a",)), Round(until=4, writes={"a": fresh}, asked=("c", "b"), read=("a",)))
    return case(*nodes, asked=("c", "b"), rounds=rounds)


def test_the_schema_of_graph_cases_is_current() -> None:
    text = (FOLDER / "graph_case.schema.json").read_text()
    assert text == written(graph_case_schema()), "run python -m conformance.cases.graph.schema"
    jsonschema.Draft202012Validator.check_schema(json.loads(text))


def test_a_case_comes_back_and_the_same_one_gives_the_same_bytes(tmp_path: Path) -> None:
    path, other = tmp_path / "one.json", tmp_path / "other.json"
    save_graph(two_rounds(), path)
    assert load_graph(path) == two_rounds()
    save_graph(load_graph(path), other)
    assert path.read_text() == other.read_text()
    jsonschema.Draft202012Validator(graph_case_schema()).validate(json.loads(path.read_text()))
    assert keys(two_rounds()) == ("0/buffer/a", "1/c", "1/b", "1/buffer/a")


def test_large_buffers_lie_beside_the_case(tmp_path: Path) -> None:
    large = replace(two_rounds(), buffers={**two_rounds().buffers, "w": from_array(np.zeros(5000, np.float32))})
    save_graph(large, tmp_path / "case.json")
    assert load_graph(tmp_path / "case.json") == large
    assert (tmp_path / "case.safetensors").exists()


def test_a_changed_case_no_longer_has_its_id(tmp_path: Path) -> None:
    save_graph(two_rounds(), tmp_path / "case.json")
    text = (tmp_path / "case.json").read_text()
    (tmp_path / "case.json").write_text(text.replace('"neg"', '"abs"'))
    with pytest.raises(CaseError, match="its content has the id"):
        load_graph(tmp_path / "case.json")
    assert graph_case_id(two_rounds()).startswith("graph_4_2/float32-1/")


REFUSED = {
    "need each other, a cycle": case(node("x", "alu", "y", arg="neg"), node("y", "alu", "x", arg="neg"), asked=("y",)),
    "not a view of a buffer but a constant": case(
        node("1", "const", arg=ONE), node("w", "assign", "1", "a"), asked=("w",)
    ),
    "not a view of a buffer but an expanded view": case(
        node("r", "shrink", "a", shape=(1,), arg=((0, 1),)),
        node("e", "expand", "r"),
        node("w", "assign", "e", "a"),
        asked=("w",),
    ),
    "it is on d1, its source 'a' on d0": case(node("x", "alu", "a", arg="neg", device="d1"), asked=("x",)),
    "variable 'n' has two values, 3 in its round and 2": case(
        node("s", "shrink", "a", shape=("n",), arg=((0, "n"),)),
        node("x", "alu", "s", arg="neg", shape=("n",)),
        asked=("x",),
        rounds=(Round(until=2), Round(until=3, values={"n": 3}, asked=("x",))),
        variables={"n": Variable(low=1, high=4, value=2)},
    ),
    "a bitcast from float32 to int8 changes the width": case(node("x", "bitcast", "a", dtype="int8"), asked=("x",)),
    "is no dtype in which a reduce of float32 accumulates": case(
        node("x", "reduce", "a", shape=(), arg=(0,), fold="add", acc="float16"), asked=("x",)
    ),
    "its sources have the dtypes float32, float8_e5m2": case(
        node("q", "cast", "a", dtype="float8_e5m2"), node("x", "alu", "a", "q", arg="add"), asked=("x",)
    ),
    "gives 1 results, none is 1": case(
        node("c", "call", "a", arg="f"),
        node("x", "item", "c", arg=1),
        asked=("x",),
        functions={"f": Function(nodes=(node("p", "param", arg=0),), result="p")},
    ),
    "variable 'm' is not declared": case(node("s", "pad", "a", shape=("m + 5",), arg=((0, "m + 1"),)), asked=("s",)),
    "a step other than 0, and of at most": case(node("s", "stride", "a", shape=(1,), arg=(2**70,)), asked=("s",)),
    "'x', which is asked for, is listed in a later round": case(
        node("x", "alu", "a", arg="neg"), asked=("x",), rounds=(Round(until=1, asked=("x",)), Round(until=2))
    ),
}


def _along(op: str, shape: tuple[Any, ...], arg: object = None, **values: int) -> GraphCase:
    """Return a case in which an extent that is made of ``n`` is used by another node, a round later."""
    return case(
        node("s", "shrink", "a", shape=("n",), arg=((0, "n"),)),
        node("m", op, "s", shape=shape, arg=arg),
        node("x", "alu", "m", arg="neg", shape=shape),
        asked=("x",),
        rounds=(Round(until=3), Round(until=4, values=values, asked=("x",))),
        variables={"n": Variable(low=1, high=4, value=2)},
    )


@pytest.mark.parametrize(
    ("op", "shape", "arg"),
    [
        ("pad", ("n + 3",), ((1, 2),)),
        ("pad", ("2 * n + 1",), ((0, "n + 1"),)),
        ("stride", ("(n + 1) // 2",), (-2,)),
        ("reshape", (1, "n * 1"), None),
        ("shrink", ("n - 1",), ((0, "n - 1"),)),
    ],
)
def test_an_extent_that_is_made_of_a_variable_has_its_value(op: str, shape: tuple[Any, ...], arg: object) -> None:
    assert validate_graph(_along(op, shape, arg)) == {}
    with pytest.raises(CaseError, match="variable 'n' has two values, 3 in its round and 2"):
        validate_graph(_along(op, shape, arg, n=3))


@pytest.mark.parametrize("reason", REFUSED)
def test_what_says_nothing_definite_is_refused_with_the_node_and_the_reason(reason: str) -> None:
    with pytest.raises(CaseError, match=reason):
        validate_graph(REFUSED[reason])


def test_movement_out_of_range_is_well_formed_and_has_no_meaning() -> None:
    beyond = case(node("x", "shrink", "a", shape=(5,), arg=((0, 5),)), asked=("x",))
    assert list(validate_graph(beyond)) == ["x"]
    assert validate_graph(two_rounds()) == {}


def test_operands_of_several_dtypes_are_promoted() -> None:
    mixed = case(node("i", "cast", "a", dtype="int64"), node("x", "alu", "i", "a", arg="mul"), asked=("x",))
    assert validate_graph(mixed) == {}


def test_a_long_chain_is_checked_in_linear_time() -> None:
    chain = [node("x0", "alu", "a", arg="neg")]
    chain += [node(f"x{at}", "alu", f"x{at - 1}", arg="neg") for at in range(1, 10_000)]
    assert validate_graph(case(*chain, asked=("x9999",))) == {}


def test_a_node_like_one_that_fitted_is_refused_for_what_is_its_own() -> None:
    indices, taken = node("i", "iota", arg=0, dtype="int32"), node("g", "gather", "a", "i", arg=0)
    assert validate_graph(case(indices, taken, asked=("g",))) == {}
    wrongs: list[dict[str, Any]] = [{"arg": False}, {"device": "d9"}, {"dtype": "float16"}, {"shape": (3,)}]
    for wrong in wrongs:
        with pytest.raises(CaseError, match="node 'g'"):
            validate_graph(case(indices, replace(taken, **wrong), asked=("g",)))


def test_movement_beyond_its_source_is_told_each_time() -> None:
    beyond = case(node("x", "shrink", "a", shape=(3,), arg=((2, 5),)), asked=("x",))
    assert [list(validate_graph(beyond)) for _ in range(2)] == [["x"], ["x"]]
