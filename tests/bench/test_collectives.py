"""The benchmark of collectives: what it measures, what it checks, and that nobody's numbers are anybody else's."""

from __future__ import annotations

import json
import shutil
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from conformance.bench.collectives import rounds
from conformance.bench.collectives.driver import DrivenPeer, PeerError
from conformance.bench.collectives.point import OPS, Point, rounded, wrong
from conformance.cli.commands.bench import command as bench
from conformance.cli.commands.bench.collectives import command
from conformance.cli.problems import Problem


@pytest.mark.parametrize("op", OPS)
def test_what_a_rank_brings_and_receives_has_the_size_that_is_said(op: str) -> None:
    point = Point(op, 64, 4)
    received = point.expected()
    assert max(point.brought * 4, received[0].nbytes) == 64
    assert wrong(received[0], received[0]) == 0
    assert wrong(received[0] + 1, received[0]) == received[0].size
    assert wrong(np.zeros(1, np.float32), received[0]) == received[0].size


def test_sizes_are_whole_elements_of_every_rank() -> None:
    assert [rounded(size, 3) for size in (1, 12, 25)] == [12, 12, 24]


class Scripted:
    """A peer whose runs take as long as they are said to, in seconds."""

    def __init__(self, name: str, seconds: float, errors: int = 0) -> None:
        self.name, self._seconds, self._errors = name, seconds, errors

    def prepare(self, point: Point) -> None:
        if self._seconds < 0:
            raise PeerError(f"{self.name}: no {point.op}")

    def wrong(self) -> int:
        return self._errors

    def times(self, count: int) -> tuple[list[float], list[float]]:
        return [self._seconds] * count, []


class Dies(Scripted):
    """A peer that dies in the second round."""

    def times(self, count: int) -> tuple[list[float], list[float]]:
        self._errors += 1
        if self._errors > 2:
            raise PeerError(f"{self.name} died")
        return super().times(count)


def rows(**peers: Scripted) -> dict[str, rounds.Row]:
    measured: Callable[..., list[rounds.Row]] = rounds._rows
    return {row.backend: row for row in measured(Point("all_reduce", 4000, 4), peers, 3)}


def test_columns_are_those_of_nccl_tests() -> None:
    found = rows(copy=Scripted("copy", 2e-6), one=Scripted("one", 4e-6), two=Scripted("two", 1e-6, errors=5))
    assert (found["one"].count, found["one"].algbw) == (1000, pytest.approx(1.0))
    assert found["one"].busbw == pytest.approx(1.5)
    assert (found["one"].copy, found["one"].ahead) == (pytest.approx(2.0), pytest.approx(0.25))
    assert (found["two"].ahead, found["two"].wrong, found["copy"].ahead) == (pytest.approx(4.0), 5, None)


def test_a_peer_that_fails_has_its_error_in_its_row_and_stops_nobody() -> None:
    found = rows(copy=Scripted("copy", 1e-6), bad=Scripted("bad", -1.0), good=Scripted("good", 1e-6))
    assert (found["bad"].error, found["good"].error) == ("bad: no all_reduce", "")


def test_the_command_times_and_checks_processes() -> None:
    arguments = ["-b", "opencl", "--sizes", "256,4K", "--ops", "all_reduce,all_gather", "--repeats", "2", "--json"]
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert {(row["backend"], row["op"], row["size"], row["wrong"]) for row in found["rows"]} == {
        (name, op, size, 0)
        for name in ("copy", "floor", "opencl")
        for op in ("all_reduce", "all_gather")
        for size in (256, 4096)
    }
    assert statistics.fmean(row["time_us"] for row in found["rows"]) > 0
    assert found["overlaps"][0]["size"] == 4096


@pytest.mark.parametrize(("option", "value"), [("--sizes", "4X"), ("--ops", "all_reduced"), ("-b", "nccl")])
def test_what_is_not_known_is_refused(option: str, value: str) -> None:
    assert CliRunner().invoke(command, [option, value]).exit_code == 2


@pytest.mark.parametrize(
    ("peer", "message"),
    [
        ("mpi", "'mpi' is no NAME=PYTHON"),
        ("nccl=python", "'nccl' cannot be timed; known are opencl, jax"),
        ("mpi=/nowhere/python", "'/nowhere/python' of mpi is no program"),
    ],
)
def test_a_peer_elsewhere_is_a_name_and_an_interpreter(peer: str, message: str) -> None:
    done = CliRunner().invoke(command, ["--peer", peer])
    assert (done.exit_code, message in done.output) == (2, True)


def test_where_nobody_can_be_timed_nothing_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.cli.commands.bench.collectives.missing", lambda name: f"no {name}")
    done = CliRunner().invoke(command, [])
    assert "opencl cannot be timed here: no opencl; jax cannot be timed here: no jax" in done.output
    with pytest.raises(Problem) as found:
        command.main([], standalone_mode=False)
    assert found.value.status == 2


@pytest.mark.parametrize("kind", ["graphs", "sharded"])
def test_graphs_are_timed_only_where_somebody_can_be(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"conformance.cli.commands.bench.{kind}.not_installed", lambda name: f"no {name}")
    with pytest.raises(Problem, match="opencl cannot be timed here: no opencl") as found:
        bench.main([kind], standalone_mode=False)
    assert found.value.status == 2


def test_a_peer_of_another_environment_is_timed_by_its_interpreter(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\ntouch "{tmp_path}/asked"\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    with DrivenPeer("opencl", 2, str(python)) as peer:
        peer.prepare(Point("all_gather", 64, 2))
        assert peer.wrong() == 0
    assert (tmp_path / "asked").exists()


def test_an_interpreter_without_this_suite_is_told_at_once() -> None:
    with pytest.raises(PeerError, match="opencl did not start; it said"):
        DrivenPeer("opencl", 2, shutil.which("false") or "false")
    with pytest.raises(PeerError, match=r"mpi of .*false: no word"):
        DrivenPeer("mpi", 2, shutil.which("false") or "false")


def test_a_peer_that_dies_in_a_round_has_its_error_in_the_row() -> None:
    found = rows(copy=Scripted("copy", 2e-6), one=Dies("one", 4e-6), two=Scripted("two", 1e-6))
    assert (found["one"].error, found["two"].ahead) == ("one died", None)


def test_without_a_copy_nothing_is_a_multiple_of_it() -> None:
    found = rows(copy=Scripted("copy", -1), one=Scripted("one", 4e-6), two=Scripted("two", 1e-6))
    assert (found["one"].copy, found["one"].ahead) == (None, pytest.approx(0.25))
    assert {row.error for row in rows(copy=Scripted("copy", -1)).values()} == {"copy: no all_reduce"}
