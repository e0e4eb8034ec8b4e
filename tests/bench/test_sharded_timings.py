"""Programs on sharded tensors timed: each competitor computes what NumPy does on whole ones."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from conformance.bench.graphs.competitors import OfNumPy
from conformance.bench.graphs.sharded_rows import sharded_rows
from conformance.bench.sharded.competitors import COMPETING
from conformance.bench.sharded.programs import PROGRAMS, Program
from conformance.cli.commands.bench.sharded import command


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=list(PROGRAMS))
@pytest.mark.parametrize("name", ["opencl", "jax"])
def test_a_competitor_computes_what_numpy_does(name: str, program: Program) -> None:
    pytest.importorskip({"opencl": "pyopencl"}.get(name, name))
    inputs = program.of.inputs("small")
    ready = COMPETING[name](program, inputs, 2)
    wanted = np.asarray(program.of.made(OfNumPy(), *inputs))
    np.testing.assert_allclose(ready.array(ready.run()), wanted, rtol=2e-5, atol=1e-5)


@pytest.mark.slow  # two processes import Torch: 10 s
def test_distributed_tensors_compute_what_numpy_does() -> None:
    pytest.importorskip("torch")
    seen = CliRunner().invoke(command, ["-b", "torch", "--size", "small", "--rounds", "1"])
    assert (seen.exit_code, "Error" in seen.output) == (0, False)


def test_an_unknown_competitor_is_a_usage_error() -> None:
    assert CliRunner().invoke(command, ["-b", "mpi"]).exit_code == 2


def test_rows_of_several_devices_have_a_graph_over_these() -> None:
    devices = {row.number: len({node.device for node in row.case.graph.nodes}) for row in sharded_rows()}
    assert devices == {124: 2, 125: 4, 126: 4, 127: 4, 128: 4, 129: 2}
