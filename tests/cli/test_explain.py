"""``conformance explain``: values, kernels with reason and source, buffers and order of one case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from conformance.bench.graphs.tensors import Listing
from conformance.cases.graph.codec import save_graph
from conformance.cli.commands.explain import command


def _explained(folder: Path) -> Any:
    listing = Listing()
    a = listing.buffer(4, 4)
    save_graph(listing.case((a - a.sum(0, keep=True),)), folder / "case.json")
    done = CliRunner().invoke(command, [str(folder / "case.json"), "--json"], catch_exceptions=False)
    return json.loads(done.output)


def test_each_kernel_says_why_it_is_one_of_its_own(tmp_path: Path) -> None:
    (found,) = _explained(tmp_path)
    reasons = [step["reason"] for step in found["steps"]]
    assert reasons == ["its user needs each element of a reduction more than once", "a result"]
    assert all(step["source"].startswith("__kernel void fused_") for step in found["steps"])
    assert found["steps"][1]["after"] == ["item 0"]
