"""Starting XLA's compiler for TPUs, and what is said where it cannot be; one test compiles, where libtpu is there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

import pytest

from conformance.backends.jax.tpu import topology
from conformance.backends.jax.tpu.environment import problem

CASE = """
import numpy as np
from conformance.backends.jax.tpu import TpuSchedule
from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array

step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("m",), attrs={"op": "sum"})
program = Program(mesh=(Axis("m", 4),), steps=(step,), results=("y",))
blocks = tuple(from_array(np.full((5, 3), rank, np.int8)) for rank in range(4))
seen = TpuSchedule().execute(Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 4)}))
print(seen.errors, {bits for tensor in seen.results["y"] for bits in bytes.fromhex(tensor.bits)})
"""


def _installed() -> str:
    try:
        return version("libtpu")
    except PackageNotFoundError:
        return ""


@pytest.mark.parametrize(
    ("found", "named", "said"),
    [
        ("", "v5e:2x2", "libtpu is missing: pip install libtpu==0.0.42.1"),
        ("0.0.52", "v5e:2x2", "libtpu 0.0.52 is installed; what is read of the compiler is that of 0.0.42.1"),
        ("0.0.42.1", "v9:3x3", "CONFORMANCE_TPU_TOPOLOGY: no topology 'v9:3x3'; there are v5e:2x2, v5e:4x2"),
    ],
    ids=["missing", "another version", "no topology"],
)
def test_a_compiler_that_cannot_start_says_why(
    found: str, named: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def installed(name: str) -> str:
        if not found:
            raise PackageNotFoundError(name)
        return found

    monkeypatch.setenv(topology.TOPOLOGY, named)
    monkeypatch.setattr(topology, "version", installed)
    with pytest.raises(ImportError, match=re.escape(said)):
        topology.start()


@pytest.mark.slow
@pytest.mark.skipif(_installed() != topology.PINNED, reason="needs libtpu, whose licence is not an open one")
def test_a_sum_of_bytes_is_compiled_for_four_chips_and_evaluated() -> None:
    made = subprocess.run([sys.executable, "-c", CASE], capture_output=True, text=True, timeout=300, check=True)
    assert made.stdout.splitlines()[-1] == "() {6}"


GRAPH = """
import numpy as np
from conformance.backends.jax.tpu import TpuSchedule
from conformance.cases.graph.case import GraphCase, Round, asked_key
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.tensor.tensor import from_array
from conformance.specs.schedules import judge

def node(id, op, device, *of, **more):
    return Node(id=id, op=op, of=of, shape=(4,), dtype="float32", device=device, **more)

stored = [node(f"a{n}", "buf", f"d{n}", arg=f"a{n}") for n in range(3)]
doubled = [node(f"b{n}", "alu", f"d{n}", f"a{n}", f"a{n}", arg="add") for n in range(3)]
met = node("m", "all_reduce", "d1", "b0", "b1", "b2", fold="add")
moved = node("c", "copy", "d2", "m")
last = node("r", "alu", "d2", "c", "b2", arg="mul")
graph = Graph(nodes=(*stored, *doubled, met, moved, last), results=("r",))
buffers = {f"a{n}": from_array(np.full(4, n + 1, np.float32)) for n in range(3)}
case = GraphCase(graph=graph, buffers=buffers, rounds=(Round(until=9, asked=("r",)),))
backend = TpuSchedule()
found = {each.clause: each.finding for each in judge(backend.schedule(graph))}
print(backend.run_graph(case)[asked_key(0, "r")].tolist(), found["law.C1"], "broken" in found.values())
"""

EXCESS = """
import numpy as np
from conformance.backends.jax.tpu import TpuSchedule
from conformance.cases.declarations.number_model import STANDARD, number_model
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.schedule.builders import alu, graph, stored
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import from_array
from conformance.judging.graphs.subject import graph_meaning
from conformance.judging.graphs.verdict import judge_graph
from conformance.specs.graphs import CLAUSES

half = {"dtype": "bfloat16"}
s, x = alu("s", "add", "a", "b", **half), alu("x", "ne", "s", "a", dtype="bool")
nodes = stored("a", **half), stored("b", **half), s, x
buffers = {name: from_array(np.full(4, value, NUMPY["bfloat16"])) for name, value in (("a", 59904), ("b", 1))}
case = GraphCase(graph=graph(*nodes, results=["x"]), buffers=buffers, rounds=(Round(until=4, asked=("x",)),))
backend = TpuSchedule()
seen, meant = backend.graph(case), graph_meaning(case)
print(*(judge_graph(meant, seen, CLAUSES, model).outcome for model in (STANDARD, number_model(backend.number_model))))
"""

LOOP = CASE.replace("import TpuSchedule", "import TpuLoop as TpuSchedule")


def _printed(script: str, topology_name: str) -> str:
    environment = {**os.environ, topology.TOPOLOGY: topology_name}
    made = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=True, env=environment
    )
    return made.stdout.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.skipif(_installed() != topology.PINNED, reason="needs libtpu, whose licence is not an open one")
@pytest.mark.parametrize("name", topology.TOPOLOGIES)
def test_a_graph_of_three_devices_is_evaluated_and_its_schedule_keeps_the_law(name: str) -> None:
    assert _printed(GRAPH, name) == "[72.0, 72.0, 72.0, 72.0] held False"


@pytest.mark.slow
@pytest.mark.skipif(_installed() != topology.PINNED, reason="needs libtpu, whose licence is not an open one")
def test_a_sum_of_16_bits_is_compared_unrounded_as_is_declared() -> None:
    assert _printed(EXCESS, "v5e:2x2") == "failed passed"


@pytest.mark.slow
@pytest.mark.skipif(_installed() != topology.PINNED, reason="needs libtpu, whose licence is not an open one")
def test_a_program_in_a_loop_has_its_own_value() -> None:
    assert _printed(LOOP, "v5e:2x2") == "() {6}"


def test_a_topology_that_does_not_exist_keeps_the_backend_from_being_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(topology.TOPOLOGY, "v9:3x3")
    assert str(problem()).startswith("CONFORMANCE_TPU_TOPOLOGY: no topology 'v9:3x3'")
    monkeypatch.setenv(topology.TOPOLOGY, "v5e:2x2")
    monkeypatch.setattr(topology, "version", lambda _: topology.PINNED)
    assert problem() is None
