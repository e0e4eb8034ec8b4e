"""Text of a case never becomes code: the script under hostile names is that under plain names, but for constants."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from conformance.backends.base import Backend
from conformance.backends.discovery import BackendError, find, load
from conformance.cases.case import Case, Fault, Operand
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node, Variable
from conformance.cases.observation import Observation, RankError
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Placement, Split
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.cases.types.typed_case import Level, TypedCase
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.reproduce.frame import script
from conformance.reproduce.identifiers import renamed
from conformance.reproduce.keyed_script import WALKS, keyed_script
from conformance.reproduce.source_text import docstring, literal, text_literal
from conformance.reproduce.symptom import Symptom
from conformance.reproduce.write import WRITERS, ScriptError, program_of, reproduction
from conformance.runner.meaning import meaning, verdict
from conformance.runner.replay import Replay
from conformance.runner.worker.answers import Answer

PLAIN = ("x", "y", "z", "b", "w", "t", "i", "j")
RUNS = 'import pathlib; pathlib.Path("broken_out").touch()'
ATTACKS = (
    f'"""\n{RUNS}\n"""',
    f"'''\n{RUNS}\n'''",
    f"'); {RUNS} #",
    f'"]; {RUNS} #',
    f"\\\n{RUNS}\n",
    f"a\f\n{RUNS}",
    f"u\u2028{RUNS}\u2029{RUNS}\x85{RUNS}",
    f"{{__import__('os')}} {{0}} {{}} %s {RUNS}",
    "# coding: utf-7",
    "nul\0 lone\udc80 half\ud800",
    "class",
    "rank",
    "value_0",
    "Node(",
    "\u202e\u2066 right to left",
    "",
    '\\"""',
    "x = 1\n    x",
    "-*- coding: latin-1 -*-",
    '"" "',
)
HOSTILE = (ATTACKS[:8], ATTACKS[4:12], ATTACKS[8:16], ATTACKS[12:20])

Names = Sequence[str]


def block(*values: float) -> Tensor:
    return from_array(np.array(values, np.float32))


def operand(*blocks: Tensor) -> Operand:
    return Operand(blocks=blocks, layouts=("contiguous",) * len(blocks))


def chain(names: Names) -> Case:
    """Collectives over a mesh of two axes."""
    x, y, z, *_, i, j = names
    steps = (
        Step(op="all_reduce", inputs=(x,), outputs=(y,), axes=(i,), attrs={"op": "sum"}),
        Step(op="all_gather", inputs=(y,), outputs=(z,), axes=(j, i), attrs={"axis": 0, "tiled": True}),
    )
    program = Program(mesh=(Axis(i, 1), Axis(j, 2)), steps=steps, results=(y, z))
    return Case(program=program, inputs={x: operand(block(1, 2), block(3, 4))})


def effects(names: Names) -> Case:
    """Storage that a started collective writes."""
    x, y, z, b, w, t, i, _ = names
    steps = (
        Step(op="buffer", inputs=(x,), outputs=(b,), axes=()),
        Step(op="view", inputs=(b,), outputs=(w,), axes=(), attrs={"start": (0,), "stop": (2,), "step": (1,)}),
        Step(op="all_reduce", inputs=(x,), outputs=(t,), axes=(i,), attrs={"op": "sum"}, into=(w,), start=True),
        Step(op="done", inputs=(t,), outputs=(y,), axes=()),
        Step(op="assign", inputs=(b, x), outputs=(), axes=()),
        Step(op="copy", inputs=(w,), outputs=(z,), axes=()),
    )
    program = Program(mesh=(Axis(i, 2),), steps=steps, results=(y, z))
    return Case(program=program, inputs={x: operand(block(1, 2), block(3, 4))})


def apart(names: Names) -> Case:
    """Ranks of which one is late, and one takes no part in a step."""
    x, y, z, *_, i, _ = names
    steps = (
        Step(op="all_reduce", inputs=(x,), outputs=(y,), axes=(i,), attrs={"op": names[-1]}),
        Step(op="all_reduce", inputs=(x,), outputs=(z,), axes=(), attrs={"op": "sum"}, ranks=(0,)),
    )
    program = Program(mesh=(Axis(i, 2),), steps=steps, results=(y,))
    faults = (Fault(rank=1, before=0, delay=0.5),)
    return Case(program=program, inputs={x: operand(block(1, 2), block(3, 4))}, faults=faults)


def graph(names: Names) -> GraphCase:
    x, y, z, b, w, t, i, j = names
    nodes = (
        Node(id=x, op="buf", shape=(2,), dtype=t, device=w, arg=b),
        Node(id=y, op="alu", of=(x,), shape=(j,), dtype=t, device=w, arg=i, attrs={z: names[0]}, members=(w,)),
    )
    made = Graph(nodes=nodes, results=(y,), variables={j: Variable(low=1, high=2, value=2)})
    return GraphCase(graph=made, buffers={b: block(1, 2)}, rounds=(Round(until=2, values={j: 2}, asked=(y,)),))


def sharded(names: Names) -> ShardedCase:
    home = Placement(splits=(Split(axis=0, along=(names[6],), cuts=(0, 1, 2)),), masks={names[6]: (True, True)})
    return ShardedCase(mesh=(Axis(names[6], 2),), devices=(0, 1), of=graph(names), homes={names[3]: home})


def typed(names: Names, kind: str) -> TypedCase:
    x, y, *_, t, i, j = names
    program = TypedProgram(
        mesh=(Axis(i, 2),),
        inputs={x: TypedInput(dtype=t, shape=(2,), varying=(i,))},
        steps=(TypedStep(op="negate", inputs=(x,), output=y, attrs={j: names[2]}),),
        results=(y,),
    )
    blocks = (block(1, 2), block(3, 4))
    more: dict[str, Any] = {
        "transposed": {"cotangents": {y: blocks}},
        "pushed": {"tangents": {x: blocks}},
        "batched": {"batch": (Level(name=j, size=2, inputs={x: 0}),)},
    }.get(kind, {})
    return TypedCase(program=program, inputs={x: blocks}, **more)


KINDS: dict[str, Callable[[Names], Any]] = {
    "graph": graph,
    "sharded": sharded,
    **{kind: lambda names, kind=kind: typed(names, kind) for kind in ("types", "transposed", "pushed", "batched")},
}


def backend_of(name: str) -> Backend:
    try:
        return load(find(name))
    except BackendError as error:
        pytest.skip(str(error))


def whole(names: Names) -> Names:
    """Return names that a case can have, whose id is a digest of UTF-8: without halves of characters."""
    return [name.encode(errors="xmlcharrefreplace").decode() for name in names]


def symptom_of(case: Case, names: Names) -> Symptom:
    made = {name: [block(9, 9), None] for name in case.program.results}
    errors = dict(enumerate(names[:2]))
    return Symptom("values", made, made, errors, f"by {names[0]}", several=True, loose=tuple(case.program.results))


def written(case: Case, backend: Backend, names: Names) -> str:
    """Return a script; its clause, sentence and source are such texts, too."""
    named = renamed(case)
    program = program_of(named.case, backend)
    return script(case, named, names[0], names[1], names[2], named.of(symptom_of(case, names)), program)


def keyed(case: Any, backend: Backend, names: Names) -> str:
    told = dict(zip(("case", "clause", "sentence", "source", "detail", "outcome"), names, strict=False))
    error = RankError(kind=names[0], message=names[1], category="internal")
    seen = Observation(results={names[1]: (block(9, 9), None)}, errors=(error,))
    return keyed_script(case, backend, told, seen, Observation(results={names[1]: (block(1, 2),)}))


def tree(text: str) -> str:
    """Return the syntax tree of a script, each constant as its type alone."""
    found = ast.parse(text.encode())
    for node in ast.walk(found):
        if isinstance(node, ast.Constant):
            node.value = type(node.value).__name__
    return ast.dump(found)


@pytest.mark.parametrize("case_of", [chain, effects, apart])
@pytest.mark.parametrize("name", WRITERS)
def test_a_script_of_hostile_names_differs_in_constants_alone(name: str, case_of: Callable[[Names], Case]) -> None:
    backend = backend_of(name)
    try:
        plain = tree(written(case_of(PLAIN), backend, PLAIN))
    except ScriptError:
        pytest.skip(f"{name} has no script of this program")
    for names in HOSTILE:
        assert tree(written(case_of(whole(names)), backend, names)) == plain


@pytest.mark.parametrize(("name", "kind"), WALKS)
def test_a_script_of_a_hostile_walk_differs_in_constants_alone(name: str, kind: str) -> None:
    backend = backend_of(name)
    plain = tree(keyed(KINDS[kind](PLAIN), backend, PLAIN))
    for names in HOSTILE:
        assert tree(keyed(KINDS[kind](names), backend, names)) == plain


TEXTS = st.lists(
    st.one_of(st.text(st.characters(codec=None), max_size=12), st.sampled_from(ATTACKS)),
    min_size=8,
    max_size=8,
    unique=True,
)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS)
def test_any_text_is_a_constant_of_a_script(names: list[str]) -> None:
    torch, jax = backend_of("torch"), backend_of("jax")
    assert tree(written(effects(whole(names)), torch, names)) == plain_tree("torch", "effects")
    assert tree(keyed(graph(names), jax, names)) == plain_tree("jax", "graph")


@cache
def plain_tree(name: str, kind: str) -> str:
    backend = backend_of(name)
    return tree(written(effects(PLAIN), backend, PLAIN) if kind == "effects" else keyed(graph(PLAIN), backend, PLAIN))


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(codec=None)))
@example('"""')
@example("\\")
def test_a_literal_is_the_text_and_a_docstring_is_one_constant(text: str) -> None:
    assert ast.literal_eval(literal(text)) == text
    assert ast.literal_eval(text_literal(text)) == text
    (only,) = ast.parse(docstring([text, "", text]).encode()).body
    assert isinstance(only, ast.Expr)
    assert isinstance(only.value, ast.Constant)
    assert len(only.value.value.splitlines()) == 3


@pytest.mark.parametrize("value", [object(), int, ast.parse, {"a": print}, (np.float32(1),), complex])
def test_what_is_no_constant_has_no_literal(value: object) -> None:
    with pytest.raises(TypeError, match="no constant"):
        literal(value)


@pytest.mark.parametrize("value", [float("inf"), -float("inf"), 1.5, -1, {1: [b"\0", None]}, (), (True,), {"a"}, set()])
def test_a_literal_is_worth_its_value(value: object) -> None:
    assert eval(literal(value), {"float": float, "set": set, "frozenset": frozenset}) == value


def test_an_attribute_with_a_name_of_its_own_has_no_script() -> None:
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={f"op=1); {RUNS} #": 1})
    program = Program(mesh=(Axis("i", 2),), steps=(step,), results=("y",))
    case = Case(program=program, inputs={"x": operand(block(1), block(2))})
    for name in ("jax", "torch", "tinygrad", "mpi"):
        with pytest.raises(ScriptError, match="no attribute"):
            program_of(case, backend_of(name))


WRONG = tuple(block(9, 9) for _ in range(2))


@pytest.mark.parametrize(
    "name",
    [
        "jax",
        "jax-vmap",
        "stablehlo",
        "opencl",
        pytest.param("torch", marks=pytest.mark.slow),
        pytest.param("torch-functional", marks=pytest.mark.slow),
        pytest.param("mpi", marks=pytest.mark.slow),
        pytest.param("tinygrad", marks=pytest.mark.slow),
    ],
)
def test_a_script_of_hostile_names_tells_of_its_bug_and_runs_nothing_else(name: str, tmp_path: Path) -> None:
    x, y, i = ATTACKS[0], ATTACKS[5], ATTACKS[2]
    step = Step(op="all_reduce", inputs=(x,), outputs=(y,), axes=(i,), attrs={"op": "sum"})
    program = Program(mesh=(Axis(i, 2),), steps=(step,), results=(y,))
    case = Case(program=program, inputs={x: operand(block(1, 2), block(3, 4))})
    wrong = Answer(Observation(results={y: WRONG}), 0.0)
    shown = Replay(verdict(meaning(case), wrong), (wrong,), {})
    (tmp_path / "script.py").write_text(reproduction(case, backend_of(name), shown), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "script.py"], capture_output=True, text=True, errors="replace", check=False, cwd=tmp_path
    )
    assert (done.returncode, "the bug is not there" in done.stdout) == (0, True), done.stdout + done.stderr
    assert not (tmp_path / "broken_out").exists()
