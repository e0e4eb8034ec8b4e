"""A peer from the driver's side: its processes, what they are asked, and what the slowest of them answers."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self

import msgspec

from conformance import __version__
from conformance.backends.discovery import BackendError, find
from conformance.backends.mpi.library import IMPLEMENTATIONS, Launch

PATIENCE: Final = 120.0
"""Seconds that a peer may take for one answer: it may compile, and wait for ranks that are slow to start."""


class PeerStart(msgspec.Struct, frozen=True):
    """How a peer is started, the module ``MODULE_peer`` that it is in, and which MPI it has to be, if any.

    ``bench`` is the folder of the module, and ``environment`` is what its processes have besides this one's.
    """

    started: Literal["one process", "a process a rank", "mpiexec"]
    module: str
    implementation: str | None = None
    bench: str = "collectives"
    environment: dict[str, str] = {}


PEERS: Final[dict[str, PeerStart]] = {
    "opencl": PeerStart("one process", "opencl"),
    "jax": PeerStart("one process", "jax"),
    "torch": PeerStart("a process a rank", "torch"),
    "mpi": PeerStart("mpiexec", "mpi"),
    "mpi-openmpi": PeerStart("mpiexec", "mpi", "openmpi"),
    "mpi-intel": PeerStart("mpiexec", "mpi", "intel"),
}
"""By the name of the backend."""

COPY: Final = "copy"
FLOOR: Final = "floor"
BOUNDS: Final = (COPY, FLOOR)
"""What is timed beside the backends: how fast memory is, and what it costs the native one to do nothing."""


class PeerError(RuntimeError):
    """A peer that did not start, did not answer in time, or answered with an error."""


def missing(name: str) -> str | None:
    """Return what keeps a peer from being timed in this environment, or ``None``."""
    try:
        find(name)
        if PEERS[name].started == "mpiexec":
            launched(name, 1, sys.executable)
    except (BackendError, PeerError) as error:
        return str(error)
    return None


def launched(name: str, ranks: int, python: str) -> Launch:
    """Return how ``python`` starts ranks of an MPI; raise ``PeerError`` where it loads none, or not the right one."""
    asked = [python, "-m", "conformance.backends.mpi.library", str(ranks)]
    said = subprocess.run(asked, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if said.returncode:
        raise PeerError(f"{name} of {python}: {(said.stderr.strip() or 'no word').splitlines()[-1]}")
    launch = msgspec.json.decode(said.stdout, type=Launch)
    wanted = PEERS[name].implementation
    if wanted is not None and not launch.of.startswith(IMPLEMENTATIONS[wanted].vendor):
        raise PeerError(f"{name} of {python}: mpi4py loads {launch.of}, and not {IMPLEMENTATIONS[wanted].vendor}")
    return launch


class DrivenPeer:
    """The processes of one peer. Use it as a context manager; raise ``PeerError`` where they fail."""

    def __init__(self, name: str, ranks: int, python: str = sys.executable, how: PeerStart | None = None) -> None:
        """Start the processes of ``name`` with the interpreter ``python`` and wait until every one has called.

        ``how`` they are started is that of ``PEERS`` where nothing is said.
        """
        self.name = name
        how = how or PEERS.get(name, PeerStart("one process", name))
        launch = launched(name, ranks, python) if how.started == "mpiexec" else Launch((), {}, "")
        self._folder = tempfile.mkdtemp(prefix="conformance-")
        self._processes: list[subprocess.Popen[bytes]] = []
        self._lines: list[Any] = []
        address = str(Path(self._folder) / "socket")
        member = [python, "-m", "conformance.bench.collectives.member"]
        command = [*member, f"conformance.bench.{how.bench}.{how.module}_peer", address, str(ranks), self._folder]
        commands = {
            "one process": [[*command, "0"]],
            "a process a rank": [[*command, str(rank)] for rank in range(ranks)],
            "mpiexec": [[*launch.command, *command]],
        }[how.started]
        self._noise = Path(self._folder) / "noise"
        try:
            with socket.socket(socket.AF_UNIX) as server, self._noise.open("wb") as noise:
                server.bind(address)
                server.listen()
                server.settimeout(0.2)
                for each in commands:
                    started = subprocess.Popen(
                        each,
                        stdin=subprocess.DEVNULL,
                        stdout=noise,
                        stderr=noise,
                        start_new_session=True,
                        env={**os.environ, **launch.environment, **how.environment},
                    )
                    self._processes.append(started)
                for _ in range(1 if how.started == "one process" else ranks):
                    self._lines.append(self._called(server))
                for lines in self._lines:
                    self._same_version(lines.readline(), python)
        except OSError as error:
            self.close()
            raise PeerError(f"{name} did not start: {error}; it said {self._said()}") from error
        except BaseException:
            self.close()
            raise

    def _called(self, server: socket.socket) -> Any:
        """Return the lines of the next process that calls; raise ``PeerError`` where one has ended before."""
        deadline = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(TimeoutError):
                connection, _ = server.accept()
                connection.settimeout(PATIENCE)
                with connection:  # The file keeps the socket open.
                    return connection.makefile("rwb")
            if time.monotonic() > deadline or any(process.poll() is not None for process in self._processes):
                raise PeerError(f"{self.name} did not start; it said {self._said()}")

    def _same_version(self, greeting: bytes, python: str) -> None:
        version = msgspec.json.decode(greeting or b"{}").get("version")
        if version != __version__:
            raise PeerError(f"{self.name}: {python} has mesh-conformance {version}, and this is {__version__}")

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

    def prepare(self, point: msgspec.Struct) -> None:
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

    def first(self, what: str, **more: Any) -> Any:
        """Return what the first process answers to a request of a benchmark's own, under its own name."""
        return self._ask({"do": what, **more})[0][what]

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


class Prepared(NamedTuple):
    """By peer: why it failed, how many elements it had wrong, and how many runs its turn has."""

    errors: dict[str, str]
    wrong: dict[str, int]
    turns: dict[str, int]


def prepared(point: msgspec.Struct, peers: Mapping[str, DrivenPeer], turn: float, most: int) -> Prepared:
    """Make all peers ready for ``point``, with as many runs as a ``turn`` of so many seconds has, ``most`` at most."""
    found = Prepared({}, {}, {})
    for name, peer in peers.items():
        try:
            peer.prepare(point)
            found.wrong[name] = peer.wrong()
            seconds, _ = peer.times(1)
            found.turns[name] = max(1, min(most, round(turn / seconds[0])))
        except PeerError as error:
            found.errors[name] = str(error)
    return found
