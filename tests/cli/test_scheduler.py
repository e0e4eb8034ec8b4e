"""``--scheduler``: slices over a Dask cluster, and what is lost there."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import cluster, jobs
from conformance.cli.slice_processes import LOST, JudgedSlice, judge
from conformance.runner.plan import Plan
from tests.cli.conftest import Conformance

distributed = pytest.importorskip("distributed")
# What Dask leaves open in this process is not ours.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

ONE = ("-b", "reference", "--op", "broadcast", "--suite", "collectives", "--examples", 40)
PLAN = Plan(ops=("broadcast",), examples=40, suites=("collectives",))


def local(workers: int) -> Any:
    """Return a cluster in this process: so many workers with a thread each."""
    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=False, dashboard_address=":0", scheduler_port=0,
        host="127.0.0.1", protocol="tcp",
    )  # fmt: skip


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    with local(2) as found:
        yield found.scheduler_address


def cases(folder: str) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in (Path(folder) / "run.jsonl").read_text().splitlines()]
    return [{**line, "seconds": 0, "note": None} for line in lines if line["type"] == "case"]


def test_a_cluster_and_processes_here_make_one_run(conformance: Conformance, scheduler: str) -> None:
    over = conformance("run", *ONE, "--scheduler", scheduler, "-o", "cluster")
    here = conformance("run", *ONE, "--jobs", 1, "-o", "here")
    assert (over.status, here.status) == (0, 0), over.err
    assert cases("cluster") == cases("here")
    basis = [json.loads(Path(folder, "report.json").read_text()).get("basis", "") for folder in ("cluster", "here")]
    assert [text.startswith("The verdicts rest in part on files") for text in basis] == [True, False]
    assert len(list(Path("cluster/slices").glob("*/run.jsonl"))) == 4


def test_a_backend_that_a_host_lacks_is_named_with_the_host(conformance: Conformance, scheduler: str) -> None:
    Path("vendor.py").write_text("Acme = 1\n")
    ended = conformance("run", "-b", "vendor:Acme", *ONE[2:], "--scheduler", scheduler, "-o", "out")
    assert (ended.status, f"on {socket.gethostname()}: backend 'vendor:Acme'" in ended.err) == (2, True), ended.err
    assert "is no backend" in ended.err


@pytest.mark.parametrize(
    ("address", "status", "says"),
    [
        ("foo://x", 2, "'foo://x' is no address of a Dask scheduler"),
        ("nonsense", 2, "write tcp://HOST:8786"),
        ("127.0.0.1:1", 3, "no Dask scheduler answers at 127.0.0.1:1"),
        ("SILENT", 3, "no Dask scheduler answers at"),
    ],
)
def test_a_scheduler_that_does_not_answer_is_one_line(
    conformance: Conformance, address: str, status: int, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "ANSWER", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        where = address.replace("SILENT", f"127.0.0.1:{silent.getsockname()[1]}")
        ended = conformance("run", *ONE, "--scheduler", where, "-o", "out")
    assert (ended.status, says in ended.err, len(ended.err.splitlines())) == (status, True, 1), ended.err
    assert not Path("out").exists()


def test_a_cluster_without_workers_is_not_waited_for_long(
    conformance: Conformance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "WORKER", 0.5)
    with local(0) as empty:
        ended = conformance("run", *ONE, "--scheduler", empty.scheduler_address, "-o", "out")
    assert (ended.status, "has no worker" in ended.err) == (3, True), ended.err


def second_is_lost(job: bytes, at: int, of: int, folder: str | None = None) -> JudgedSlice:
    return JudgedSlice(LOST, "the host caught fire") if at == 2 else judge(job, at, of, folder)


@pytest.mark.parametrize("where", ["--jobs", "--scheduler"])
def test_a_slice_that_is_lost_again_and_again_is_not_run_and_resumed(
    where: str, conformance: Conformance, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    judges = (where, 2 if where == "--jobs" else scheduler)
    with monkeypatch.context() as patched:
        patched.setattr(jobs, "judge", second_is_lost)
        ended = conformance("run", *ONE, *judges, "-o", "out")
    assert ended.status == 3, ended.err
    assert "slice 2 of 4 was begun 3 times and lost: the host caught fire" in ended.out
    lost = [case for case in cases("out") if case["outcome"] == "not_run"]
    assert 0 < len(lost) < len(cases("out"))
    again = conformance("run", *ONE, *judges, "--resume", "-o", "out")
    assert again.status == 0, again.err
    whole = conformance("run", *ONE, "--jobs", 1, "-o", "whole")
    assert (whole.status, cases("out") == cases("whole")) == (0, True)


def test_slices_of_another_run_are_not_written_over(conformance: Conformance) -> None:
    conformance("run", *ONE, "--slice", "1/3", "-o", "out/slices/1-of-3")
    before = Path("out/slices/1-of-3/run.jsonl").read_bytes()
    anew = conformance("run", *ONE, "--jobs", 1, "-o", "out")
    assert (anew.status, "go on with it by --resume" in anew.err) == (2, True), anew.err
    other = conformance("run", *ONE, "--seed", 5, "--jobs", 1, "--resume", "-o", "out")
    assert (other.status, "is a slice of another run" in other.err) == (2, True), other.err
    assert Path("out/slices/1-of-3/run.jsonl").read_bytes() == before


def asleep(job: bytes, at: int, of: int, folder: str | None = None) -> JudgedSlice:
    """Stand for a slice, which is ten cases, of a backend that takes half a second for each."""
    time.sleep(5.0)
    return JudgedSlice(0, content=str(at).encode())


def seconds_of(workers: int, slices: int, monkeypatch: pytest.MonkeyPatch, folder: Path) -> float:
    """Return the seconds that so many slices take so many workers."""
    monkeypatch.setattr(jobs, "judge", asleep)
    monkeypatch.setattr(jobs, "most_slices", lambda plan: slices)
    with (
        local(workers) as many,
        cluster.cluster(many.scheduler_address) as judges,
    ):
        width = judges.width()
        began = time.monotonic()
        found = jobs.run_slices(PLAN, ("it",), folder, judges, width, resume=False, tell=lambda line: None)
        assert (len(found.handed), found.lost) == (slices, {})
        return time.monotonic() - began


@pytest.mark.slow
def test_thirty_two_workers_are_twenty_four_times_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = seconds_of(1, 2, monkeypatch, tmp_path / "one") / 2
    many = seconds_of(32, 512, monkeypatch, tmp_path / "many") / 512
    assert one / many >= 24, (one, many)


def started(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:], "--no-dashboard"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def worker(address: str) -> subprocess.Popen[bytes]:
    return started("worker", address, "--nthreads", "1", "--no-nanny", "--name", str(time.monotonic()))


def run_over(address: str, folder: str, *more: str) -> subprocess.Popen[bytes]:
    words = [
        sys.executable,
        "-m",
        "conformance",
        "run",
        *map(str, ONE[:-1]),
        "400",
        "--scheduler",
        address,
        "-o",
        folder,
    ]
    return subprocess.Popen([*words, *more], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def wait_for_slices(folder: str, many: int) -> None:
    end = time.monotonic() + 240
    while len(list(Path(folder).glob("slices/*/slice.json"))) < many:
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.slow
def test_a_worker_and_then_the_scheduler_are_killed_and_the_run_goes_on(
    conformance: Conformance, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    address = f"tcp://127.0.0.1:{port}"
    ran = [started("scheduler", "--host", "127.0.0.1", "--port", port)]
    try:
        ran += [worker(address), worker(address)]
        first = run_over(address, "out")
        wait_for_slices("out", 3)
        ran[1].kill()
        wait_for_slices("out", 8)
        ran[0].kill()
        told = first.communicate(timeout=200)[0].decode()
        assert (first.returncode, "is gone; the slices that were judged are kept" in told) == (3, True), told
        assert not Path("out/run.jsonl").exists()
        ran += [started("scheduler", "--host", "127.0.0.1", "--port", port), worker(address)]
        second = run_over(address, "out", "--resume")
        told = second.communicate(timeout=400)[0].decode()
        assert second.returncode == 0, told
    finally:
        for one in ran:
            one.kill()
            one.wait()
    assert conformance("run", *ONE[:-1], 400, "--jobs", 1, "-o", "here").status == 0
    assert cases("out") == cases("here")
