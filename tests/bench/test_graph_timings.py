"""Graphs timed: each competitor computes what NumPy does, and what is wrong has no time."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from conformance.bench.graphs import timings as module
from conformance.bench.graphs.competitors import COMPETING, OfNumPy, Ready, numpy
from conformance.bench.graphs.timed_graphs import TIMED, Timed
from conformance.bench.graphs.timings import standing, timings
from conformance.cases.tensor.dtypes import Array
from conformance.cli.commands.bench.graphs import command


@pytest.mark.parametrize("graph", TIMED, ids=lambda graph: graph.name)
@pytest.mark.parametrize("name", ["opencl", "jax", "torch"])
def test_a_competitor_computes_what_numpy_does(name: str, graph: Timed) -> None:
    pytest.importorskip({"opencl": "pyopencl"}.get(name, name))
    inputs = graph.inputs("small")
    ready = COMPETING[name](graph, inputs)
    wanted = np.asarray(graph.made(OfNumPy(), *inputs))
    np.testing.assert_allclose(ready.array(ready.run()), wanted, rtol=2e-5, atol=1e-5)


def test_a_wrong_result_has_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def shifted(graph: Timed, inputs: tuple[Array, ...]) -> Ready:
        right = numpy(graph, inputs)
        return Ready(lambda: right.run() + 0.001, np.asarray)

    monkeypatch.setitem(module.COMPETING, "shifted", shifted)
    found = timings(["numpy", "shifted"], TIMED[:1], ["small"], 1).rows
    assert {row.name: bool(row.error) for row in found} == {"copy": False, "numpy": False, "shifted": True}
    assert standing(found, "shifted") == {}


def test_the_command_says_who_is_ahead() -> None:
    seen = CliRunner().invoke(command, ["-b", "numpy", "--size", "small", "--rounds", "1", "--graph", "sum all"])
    assert (seen.exit_code, "load of the machine" in seen.output) == (0, True)


def test_an_unknown_competitor_is_a_usage_error() -> None:
    assert CliRunner().invoke(command, ["-b", "mpi"]).exit_code == 2
