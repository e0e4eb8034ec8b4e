"""Graphs that are asked for next are built in one program, beside what is done before."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.runtime import kernels
from conformance.backends.opencl.typed.graph_builder import Building
from conformance.cases.graph.case import GraphCase
from conformance.cases.tensor.tensor import to_array


def doubled(rows: int) -> GraphCase:
    building = Building()
    given = building.put([np.arange(rows * 3, dtype=np.float32).reshape(rows, 3)])
    return building.case({"z": building.summed(building.alu("add", given, given), 1)})


def test_kernels_of_several_graphs_are_one_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFORMANCE_OPENCL_CACHE", "off")
    built, backend, cases = list[str](), OpenCL(), [doubled(rows) for rows in (2, 3, 5)]
    first = kernels._built
    monkeypatch.setattr(kernels, "_built", lambda *given: built.append(given[1]) or first(*given))
    backend.anticipate([partial(backend.graph, case) for case in cases])
    for rows, case in zip((2, 3, 5), cases, strict=True):
        ((block,),) = backend.graph(case).results.values()
        assert block is not None
        assert to_array(block).tolist() == [18 * row + 6 for row in range(rows)]
    assert [text.count("__kernel") for text in built] == [3]


def test_what_does_not_build_fails_for_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFORMANCE_OPENCL_CACHE", "off")
    monkeypatch.setattr(kernels, "BEFORE", "none of this is C;")
    backend = OpenCL()
    backend.anticipate([partial(backend.graph, doubled(rows)) for rows in (2, 3)])
    (error,) = backend.graph(doubled(2)).errors
    assert error is not None
    assert error.kind == "BuildError"
