"""The examples for vendors pass within their claims, and what the guide says of views is so."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Conformance

EXAMPLES = Path(__file__).parents[2] / "examples" / "python"

LENDS = """
from conformance.backends.base import Backend

class Lends(Backend):
    name = "lends"
    claims = {"broadcast": {"root": ["nonnegative"], "calls": ["legal"]}}

    def broadcast(self, blocks, *, root, groups):
        roots = {rank: group[root] for group in groups for rank in group}
        return [blocks[roots[rank]] for rank in range(len(blocks))]

class Stored(Lends):
    claims = {"broadcast": {**Lends.claims["broadcast"], "effects": ["buffer", "view", "assign", "copy", "free"]}}
"""


@pytest.mark.parametrize(
    ("suite", "examples"),
    [
        ("graphs", 15),
        ("sharding", 15),
        pytest.param("graphs", 300, marks=pytest.mark.slow),
        pytest.param("sharding", 300, marks=pytest.mark.slow),
    ],
)
def test_a_class_with_graphs_and_sharded_tensors_passes_within_its_claims(
    conformance: Conformance, suite: str, examples: int
) -> None:
    shutil.copy(EXAMPLES / "graph_backend.py", "graph_backend.py")
    words = ("--suite", suite, "--examples", examples, "-o", "out", "--json")
    ended = conformance("run", "-b", "graph_backend:Example", *words)
    counts = json.loads(ended.out)["backends"]["graph_backend:Example"]["outcomes"]
    # So few draws leave some clause that no case was about.
    assert ended.status in ((0,) if examples > 100 else (0, 3)), ended
    assert counts.keys() <= {"passed", "unsupported"}
    assert counts["passed"] > 1


@pytest.mark.parametrize(("name", "status"), [("Lends", 0), ("Stored", 1)])
def test_a_result_may_be_a_view_of_an_operand_where_nothing_is_written_later(
    conformance: Conformance, name: str, status: int
) -> None:
    Path("lends.py").write_text(LENDS)
    ended = conformance("run", "-b", f"lends:{name}", "--op", "broadcast", "--examples", 100, "-o", "out")
    assert ended.status == status, ended
    assert ('"aliasing.C4":"broken"' in Path("out/run.jsonl").read_text()) == bool(status)


def _example(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, EXAMPLES / name, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_a_case_of_ones_own_is_written_and_asked(conformance: Conformance) -> None:
    ended = _example("own_case.py", "reference")
    assert ended.returncode == 0, ended
    assert conformance("replay", "own_case.json", "-b", "reference").status == 0
    assert "y on 0: float32[2] [90, 2]" in ended.stdout
    assert "y on 1: float32[2] [50, 2]" in ended.stdout


def test_a_log_is_read_without_the_suite_and_one_that_was_cut_shows_nothing(conformance: Conformance) -> None:
    Path("lends.py").write_text(LENDS.replace("blocks[roots[rank]]", "blocks[rank]"))
    conformance("run", "-b", "lends:Lends", "--op", "broadcast", "--examples", 20, "-o", "out")
    ended = _example("read_log.py", "out", "broadcast.C2")
    assert ended.returncode == 0, ended
    assert "lends:Lends: broadcast broadcast.C2: " in ended.stdout
    log = Path("out/run.jsonl")
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))
    assert "no footer" in _example("read_log.py", "out").stderr


def test_every_example_is_listed() -> None:
    listed = (EXAMPLES.parent / "README.md").read_text()
    assert all(f"({file.relative_to(EXAMPLES.parent)})" in listed for file in EXAMPLES.parent.glob("*/*.*"))
