"""``conformance explain``: values, kernels with reason and source, buffers and order of one case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conformance.bench.graphs.tensors import GraphListing
from conformance.cases.graph.codec import save_graph
from conformance.cli.commands.explain import command
from tests.cli.conftest import Conformance


def _explained(folder: Path) -> Any:
    listing = GraphListing()
    a = listing.buffer(4, 4)
    save_graph(listing.case((a - a.sum(0, keep=True),)), folder / "case.json")
    done = CliRunner().invoke(command, [str(folder / "case.json"), "--json"], catch_exceptions=False)
    return json.loads(done.output)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "", "{"])
def test_what_is_no_case_is_one_line(conformance: Conformance, tmp_path: Path, text: str) -> None:
    (tmp_path / "case.json").write_text(text)
    ended = conformance("explain", tmp_path / "case.json")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert "case.json: it is not JSON" in ended.err


def test_each_kernel_says_why_it_is_one_of_its_own(tmp_path: Path) -> None:
    (found,) = _explained(tmp_path)
    reasons = [step["reason"] for step in found["steps"]]
    assert reasons == ["its user needs each element of a reduction more than once", "a result"]
    assert all(step["source"].startswith("__kernel void fused_") for step in found["steps"])
    assert found["steps"][1]["after"] == ["item 0"]
