"""A peer from the driver's side: its processes, what they are asked, and what the slowest of them answers."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final, Literal, Self

import msgspec

from conformance.runner.bench_collectives.point import Point

PATIENCE: Final = 120.0
"""Seconds that a peer may take for one answer: it may compile, and wait for ranks that are slow to start."""


class How(msgspec.Struct, frozen=True):
    """How a peer is started, and which module it needs."""

    started: Literal["one process", "a process a rank", "mpiexec"]
    needs: str
    missing: str


PEERS: Final[dict[str, How]] = {
    "opencl": How("one process", "pyopencl", "pip install 'mesh-conformance[opencl]'"),
    "jax": How("one process", "jax", "pip install 'mesh-conformance[jax]'"),
    "torch": How("a process a rank", "torch", "pip install 'mesh-conformance[torch]'"),
    "mpi": How("mpiexec", "mpi4py", "pip install mpi4py mpich"),
}
COPY: Final = "copy"


class PeerError(RuntimeError):
    """A peer that did not start, did not answer in time, or answered with an error."""


def missing(name: str) -> str | None:
    """Return how to get what a peer needs, or ``None`` when it is there."""
    how = PEERS[name]
    found = importlib.util.find_spec(how.needs) and (how.started != "mpiexec" or _mpiexec())
    return None if found else how.missing


def _mpiexec() -> str | None:
    beside = str(Path(sys.executable).parent)
    return shutil.which("mpiexec", path=os.pathsep.join((beside, os.environ.get("PATH", ""))))


class Driven:
    """The processes of one peer. Use it as a context manager; raise ``PeerError`` where they fail."""

    def __init__(self, name: str, ranks: int) -> None:
        """Start the processes of ``name`` and wait until every one has called."""
        self.name = name
        how = PEERS[name].started if name != COPY else "one process"
        self._folder = tempfile.mkdtemp(prefix="conformance-")
        self._processes: list[subprocess.Popen[bytes]] = []
        self._lines: list[Any] = []
        address = str(Path(self._folder) / "socket")
        member = [sys.executable, "-m", "conformance.runner.bench_collectives.member"]
        command = [*member, name, address, str(ranks), self._folder]
        commands = {
            "one process": [[*command, "0"]],
            "a process a rank": [[*command, str(rank)] for rank in range(ranks)],
            "mpiexec": [[_mpiexec() or "mpiexec", "-n", str(ranks), *command]],
        }[how]
        self._noise = Path(self._folder) / "noise"
        try:
            with socket.socket(socket.AF_UNIX) as server, self._noise.open("wb") as noise:
                server.bind(address)
                server.listen()
                server.settimeout(PATIENCE)
                for each in commands:
                    started = subprocess.Popen(
                        each, stdin=subprocess.DEVNULL, stdout=noise, stderr=noise, start_new_session=True
                    )
                    self._processes.append(started)
                for _ in range(1 if how == "one process" else ranks):
                    connection, _ = server.accept()
                    connection.settimeout(PATIENCE)
                    self._lines.append(connection.makefile("rwb"))
                    # The file keeps the socket open.
                    connection.close()
                for lines in self._lines:
                    lines.readline()
        except OSError as error:
            self.close()
            raise PeerError(f"{name} did not start: {error}; it said {self._said()}") from error
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes."""
        self.close()

    def describe(self) -> dict[str, str]:
        """Return what the peer says of itself."""
        described: dict[str, str] = self._ask({"do": "describe"})[0]["described"]
        return described

    def prepare(self, point: Point) -> None:
        """Have the inputs made and everything compiled."""
        self._ask({"do": "prepare", "point": msgspec.to_builtins(point)})

    def times(self, count: int) -> tuple[list[float], list[float]]:
        """Return seconds of ``count`` runs, each of its slowest rank, and until the call had come back, where told."""
        answers = self._ask({"do": "time", "times": count})
        slowest = [max(column) for column in zip(*(answer["seconds"] for answer in answers), strict=True)]
        return slowest, answers[0]["launching"]

    def wrong(self) -> int:
        """Return how many elements of all ranks are wrong."""
        return sum(int(answer["wrong"]) for answer in self._ask({"do": "check"}))

    def overlap(self) -> list[tuple[float, float, float]]:
        """Return, round by round, the seconds of a collective, of a computation, and of both at once."""
        seconds: list[tuple[float, float, float]] = self._ask({"do": "overlap"})[0]["seconds"]
        return seconds

    def close(self) -> None:
        """Let the processes end, and kill those that do not."""
        for lines in self._lines:
            with contextlib.suppress(OSError):
                lines.close()
        for process in self._processes:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _ask(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        content = msgspec.json.encode(request) + b"\n"
        try:
            for lines in self._lines:
                lines.write(content)
                lines.flush()
            replies = [lines.readline() for lines in self._lines]
        except OSError as error:
            raise PeerError(f"{self.name} gave no answer to {request['do']!r}: {error}") from error
        if not all(replies):
            raise PeerError(f"{self.name} ended; it said {self._said()}")
        answers: list[dict[str, Any]] = [msgspec.json.decode(reply) for reply in replies]
        failed = next((answer["error"] for answer in answers if "error" in answer), None)
        if failed is not None:
            raise PeerError(f"{self.name}: {failed}")
        return answers

    def _said(self) -> str:
        try:
            text = self._noise.read_text(errors="replace").strip()
        except OSError:
            text = ""
        return repr(text[-500:]) if text else "nothing"
