"""`conformance new-backend --language c`: the kit in C builds with cc alone, and what it makes is judged."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.backends.discovery import find
from conformance.cli.c_backend import KIT
from conformance.runner.worker.workers import Worker
from tests.cli.conftest import Conformance

CC = shutil.which("cc")
EXAMPLES = Path(__file__).parents[2] / "examples" / "c"
STRICT = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic")

needs_cc = pytest.mark.skipif(CC is None, reason="needs a C compiler named cc")


def built(name: str, *options: str) -> None:
    words = [str(CC), *STRICT, *options, "-o", name, f"{name}.c", "conformance.c"]
    made = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (made.returncode, made.stderr) == (0, "")


def outcomes(folder: str) -> dict[str, int]:
    log = [json.loads(line) for line in (Path(folder) / "run.jsonl").read_text().splitlines()]
    (counts,) = log[-1]["counts"].values()
    return dict(counts)


def test_the_kit_and_a_program_are_written_once(conformance: Conformance) -> None:
    ended = conformance("new-backend", "acme", "--language", "c")
    assert (ended.status, {path.name for path in Path().iterdir()}) == (0, {*KIT, "acme.c"})
    assert "cc -std=c99 -O2 -o acme acme.c conformance.c" in ended.out.splitlines()[-1]
    assert conformance("new-backend", "acme-two", "--language", "c").status == 0  # beside it, with the same kit
    Path("conformance.c").write_text("mine")
    again = conformance("new-backend", "other", "--language", "c")
    assert (again.status, again.err.count("\n"), Path("conformance.c").read_text()) == (2, 1, "mine")
    assert "conformance.c exists and was left as it is" in again.err
    assert not Path("other.c").exists()


@pytest.mark.parametrize("name", ["2 many", "a/b", "", "conformance", "ü", "x" * 100])
def test_a_name_that_is_none_is_one_line(conformance: Conformance, name: str) -> None:
    ended = conformance("new-backend", name, "--language", "c")
    assert (ended.status, ended.err.count("\n"), list(Path().iterdir())) == (2, 1, [])


def test_the_file_that_is_compiled_has_at_most_500_lines() -> None:
    from conformance.cli.c_backend import text

    assert len(text("conformance.c").splitlines()) <= 500
    assert len((EXAMPLES / "mpi_harness.c").read_text().splitlines()) <= 300


@needs_cc
def test_the_program_builds_without_a_warning_and_keeps_to_the_protocol(conformance: Conformance) -> None:
    conformance("new-backend", "acme", "--language", "c")
    built("acme", "-fsanitize=undefined", "-fno-sanitize-recover=all")
    ended = conformance("harness", "check", "--json", "./acme")
    assert (ended.status, {each["outcome"] for each in json.loads(ended.out)["checks"]}) == (0, {"passed"})


@needs_cc
def test_a_program_says_whose_divergences_it_follows(conformance: Conformance) -> None:
    conformance("new-backend", "acme", "--language", "c")
    program = Path("acme.c").read_text()
    assert '.guarantees = "ranks_agree,run_to_run",' in program
    Path("acme.c").write_text(program.replace(".guarantees =", '.follows = "mpi,torch", .guarantees ='))
    built("acme")
    with Worker(find("./acme")) as worker:
        assert worker.ready.follows == ("mpi", "torch")


@needs_cc
def test_the_program_conforms_within_its_claims(conformance: Conformance) -> None:
    conformance("new-backend", "acme", "--language", "c")
    built("acme")
    words = ("--op", "all_reduce,broadcast", "--suite", "collectives,numerics", "--examples", 40, "-o", "out")
    assert conformance("run", "-b", "./acme", *words).status in (0, 3)  # few examples leave clauses without a case
    assert outcomes("out").keys() == {"passed", "unsupported"}
    assert outcomes("out")["passed"] > 30


@needs_cc
@pytest.mark.parametrize(
    ("right", "wrong", "clause"),
    [
        ("position < c->comm->size", "position < c->comm->size - 1", "reduction.C1"),
        ("member(c, c->root)->send", "c->send", "broadcast.C1"),
        (
            "    return CONF_OK;\n}\n\nstatic int all_reduce",
            "    for (int i = 0; i < count_of_calls; i++) if (calls[i].count) ((char *)calls[i].send)[0] ^= 1;\n"
            "    return CONF_OK;\n}\n\nstatic int all_reduce",
            "collective.C2",
        ),
    ],
)
def test_a_mistake_in_c_is_a_verdict(conformance: Conformance, right: str, wrong: str, clause: str) -> None:
    conformance("new-backend", "acme", "--language", "c")
    program = Path("acme.c").read_text()
    assert right in program
    Path("acme.c").write_text(program.replace(right, wrong))
    made = subprocess.run([str(CC), "-o", "acme", "acme.c", "conformance.c"], capture_output=True, check=False)
    assert made.returncode == 0
    words = ("--op", "all_reduce,broadcast", "--suite", "collectives", "--examples", 30, "-o", "out")
    assert conformance("run", "-b", "./acme", *words).status == 1
    assert outcomes("out").keys() >= {"failed"}
    broken = [json.loads(line) for line in Path("out/run.jsonl").read_text().splitlines()]
    assert clause in {record["clause"] for record in broken if record["type"] == "failure"}


def mpi() -> tuple[str, str] | None:
    """Return mpicc and mpiexec of the environment of these tests."""
    found = [shutil.which(name, path=str(Path(sys.executable).parent)) for name in ("mpicc", "mpiexec")]
    return (found[0], found[1]) if found[0] and found[1] and CC else None


@pytest.mark.skipif(mpi() is None, reason="needs mpicc and mpiexec in the environment, which the wheels of MPIs bring")
def test_an_mpi_is_judged_through_its_c_interface(conformance: Conformance) -> None:
    conformance("new-backend", "unused", "--language", "c")
    mpicc, mpiexec = mpi() or ("", "")
    words = [mpicc, *STRICT, "-I", ".", "-o", "mpi", str(EXAMPLES / "mpi_harness.c"), "conformance.c"]
    made = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (made.returncode, made.stderr) == (0, "")
    words = [
        "--op",
        "all_gather,all_to_all,reduce_scatter,gather,permute",
        "--suite",
        "collectives",
        "--examples",
        "12",
    ]
    ended = conformance("run", "-b", f"exec:./mpi {mpiexec} -n 4", *words, "-o", "out")
    assert ended.status in (0, 3), ended
    assert outcomes("out").keys() == {"passed", "unsupported"}
    assert outcomes("out")["passed"] > 10
