"""Scripts of graphs, sharded tensors and types: the adapter's walk, quoted, and the case as data."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance.backends.discovery import find, load
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.observation import Observation, RankError
from conformance.cases.program.program import Axis
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Placement, Split
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.cases.types.typed_case import TypedCase
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.reproduce.keyed_script import WALKS, Walked, keyed_script, observed_by

TOLD = {"case": "c", "clause": "graph.C8", "sentence": "s", "source": "o", "detail": "d", "outcome": "crashed"}


def block(*values: float) -> Tensor:
    return from_array(np.array(values, np.float32))


@pytest.mark.parametrize("walk", WALKS.values(), ids=["-".join(each) for each in WALKS])
def test_each_walk_is_there_to_quote(walk: Walked) -> None:
    # Read and not imported: not every framework is installed wherever tests run.
    file = Path(__file__).parents[2].joinpath(*walk.module.split(".")).with_suffix(".py")
    defined = {each.name for each in ast.parse(file.read_text()).body if isinstance(each, ast.FunctionDef)}
    assert {*walk.functions} <= defined


def graph() -> GraphCase:
    nodes = (
        Node(id="b", op="buf", shape=(2,), dtype="float32", device="d0", arg="b"),
        Node(id="n", op="alu", of=("b",), shape=(2,), dtype="float32", device="d0", arg="neg"),
    )
    made = Graph(nodes=nodes, results=("n",))
    return GraphCase(graph=made, buffers={"b": block(1, 2)}, rounds=(Round(until=2, asked=("n",)),))


def sharded() -> ShardedCase:
    home = Placement(splits=(Split(axis=0, along=("i",), cuts=(0, 1, 2)),))
    return ShardedCase(mesh=(Axis("i", 2),), devices=(0, 1), of=graph(), homes={"b": home})


def typed(**rest: Any) -> TypedCase:
    program = TypedProgram(
        mesh=(Axis("i", 2),),
        inputs={"a": TypedInput(dtype="float32", shape=(2,), varying=("i",))},
        steps=(TypedStep(op="negate", inputs=("a",), output="v"),),
        results=("v",),
    )
    return TypedCase(program=program, inputs={"a": (block(1, 2), block(3, 4))}, **rest)


def ended(name: str, case: Any, seen: Observation | None, path: Path) -> tuple[int, str]:
    script = path / "script.py"
    right = observed_by(load(find("reference")), case)
    script.write_text(keyed_script(case, load(find(name)), TOLD, seen, right))
    done = subprocess.run([sys.executable, "-I", script], capture_output=True, text=True, check=False, cwd=path)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("jax", graph()),
        pytest.param("tinygrad", graph(), marks=pytest.mark.slow),
        pytest.param("torch", graph(), marks=pytest.mark.slow),
        pytest.param("jax", sharded(), marks=pytest.mark.slow),
        pytest.param("tinygrad", sharded(), marks=pytest.mark.slow),
        pytest.param("jax", typed(), marks=pytest.mark.slow),
        pytest.param("jax", typed(cotangents={"v": (block(1, 0), block(0, 1))}), marks=pytest.mark.slow),
    ],
)
def test_what_was_seen_is_found_again_and_a_bug_that_is_gone_is_told(name: str, case: Any, tmp_path: Path) -> None:
    right = observed_by(load(find("reference")), case)
    wrong = {key: tuple(block(9, 9) for _ in blocks) for key, blocks in right.results.items()}
    status, said = ended(name, case, Observation(results=wrong), tmp_path)
    assert (status, "the bug is not there" in said) == (0, True), said


def test_an_error_that_does_not_come_again_is_gone(tmp_path: Path) -> None:
    error = RankError(kind="IndexError", message="out of range", category="internal")
    assert ended("jax", graph(), Observation(errors=(error,)), tmp_path)[0] == 0


def test_values_that_come_again_are_the_bug(tmp_path: Path) -> None:
    case = graph()
    seen = observed_by(load(find("reference")), case)
    text = keyed_script(case, load(find("jax")), TOLD, seen, Observation(results={"0/n": (block(1, 2),)}))
    (tmp_path / "script.py").write_text(text)
    assert subprocess.run([sys.executable, "-I", tmp_path / "script.py"], check=False, cwd=tmp_path).returncode == 1
    assert "conformance" not in text


def test_what_has_no_walk_has_no_script() -> None:
    with pytest.raises(LookupError):
        keyed_script(sharded(), load(find("mpi")), TOLD, None, Observation())
