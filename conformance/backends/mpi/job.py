"""The ranks of one world: an ``mpiexec``, a socket to each rank, and one case at a time.

A rank that raises would end a real job: ``python -m mpi4py.run``, which mpi4py recommends, then calls ``MPI_Abort``.
So does it here when other ranks wait for one that raised. MPI itself waits for ever, so a case has a deadline.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import msgspec

from conformance.backends.shares import share
from conformance.cases.case import Case
from conformance.cases.observation import Observation, RankError
from conformance.cases.program.program import rank_groups

DEADLINE: Final = 2.0
"""Seconds a case may take before it counts as a hang: twenty times the slowest measured (0.1 s, 8 ranks on two busy
cores; 3 ms alone), where the machine is not busy with other things."""

LONGEST: Final = 16.0
"""Seconds after which a case counts as a hang however busy the machine is: less than what a runner waits."""

GRACE: Final = 0.3
"""Seconds between the first rank that raised and the last when all raise; measured below 20 ms on busy cores."""

START: Final = 60.0
"""Seconds ranks may take to report; measured 1 s for 8."""

HELLO: Final = 5.0
"""Seconds that whoever comes to the meeting may take to say which rank it is."""


class Patience(NamedTuple):
    """How long a case may take, in seconds, ``longest`` however busy the machine is.

    When a rank has raised, others that raise as well do so within ``grace``.
    """

    deadline: float = DEADLINE
    longest: float = LONGEST
    grace: float = GRACE

    def now(self) -> float:
        """Return the seconds a case may take now: more when processes queue for the processors."""
        queue = os.getloadavg()[0] / (os.cpu_count() or 1)
        return min(self.deadline * max(1.0, queue / 2), self.longest)


ORDINARY: Final = Patience()

MESSAGES: Final = frozenset({"permute", "shuffle", "send", "recv"})
"""Operations in which a rank that raises need not concern the others of its group: what they send has its own tag."""


class Job:
    """``world`` ranks that wait for cases. ``served`` counts those they were asked."""

    def __init__(
        self,
        launch: Sequence[str],
        world: int,
        environment: Mapping[str, str],
        meet: str = "",
        rank: str = "conformance.backends.mpi.rank",
        each: int = 1,
        patience: Patience = ORDINARY,
    ) -> None:
        """Start the ranks by the command ``launch`` and wait for each to report; raise ``RuntimeError`` otherwise.

        ``environment`` is what they need beside that of this process. Ranks on other hosts find this one at ``meet``,
        an address of it; those of this machine need none. ``rank`` is the module that each process runs, which is
        ``each`` ranks. Raise ``OSError`` where ``meet`` is no address of this machine.
        """
        self.world = world
        self.processes = world // each
        self._each, self._patience = each, patience
        self.served = 0
        # Lives as long as the ranks do.
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by kill
        self._secret = secrets.token_hex(16)
        with tempfile.TemporaryDirectory(prefix="conformance-mpi-") as folder, self._meeting(meet, folder) as meeting:
            where = "{}:{}".format(*meeting.getsockname()) if meet else str(meeting.getsockname())
            command = [*launch, sys.executable, "-P", "-m", rank, where, self._secret]
            self._popen = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                env={**os.environ, **environment},
            )
            try:
                self._channels = self._met(meeting, launch[0])
            except BaseException:
                self.kill()
                raise

    def ask(self, case: Case) -> list[Observation]:
        """Return what each rank did with its share of ``case``, or how it failed to answer."""
        self.served += 1
        answers: dict[int, Observation] = {}
        for number, end in enumerate(self._channels):
            # A rank that has ended meanwhile is noticed when its answer is read.
            with contextlib.suppress(OSError):
                end.send_bytes(msgspec.msgpack.encode((self.served, share(case, number, self._each))))
        silent: dict[Any, int] = {channel: rank for rank, channel in enumerate(self._channels)}
        patience = self._patience.now()
        deadline, ended = time.monotonic() + patience, False
        while silent:
            ready: list[Any] = wait(list(silent), max(deadline - time.monotonic(), 0))
            if not ready:
                break
            for channel in ready:
                rank = silent.pop(channel)
                try:
                    answers[rank] = decode(channel.recv_bytes())
                except (EOFError, OSError):
                    ended = True
            if any(answer.raised for answer in answers.values()):
                deadline = min(deadline, time.monotonic() + self._patience.grace * patience / self._patience.deadline)
        missing = self._missing(answers, ended, patience)
        return [answers.get(number, missing) for number in range(self.processes)]

    def kill(self) -> None:
        """End the launcher, and by it the ranks."""
        for channel in getattr(self, "_channels", ()):
            channel.close()
        self._popen.terminate()
        try:
            self._popen.wait(5)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
        self._output.close()

    def _meeting(self, meet: str, folder: str) -> socket.socket:
        """Return where ranks come: a port of the address ``meet``, or a file in ``folder``."""
        if meet:
            return socket.create_server((meet, 0), backlog=self.processes)
        meeting = socket.socket(socket.AF_UNIX)
        meeting.bind(str(Path(folder) / "ranks"))
        meeting.listen(self.processes)
        return meeting

    def _met(self, meeting: socket.socket, launcher: str) -> list[Connection]:
        """Return the connection to each process, in the order of their numbers."""
        channels: dict[int, Connection] = {}
        for channel, (number, size) in self._arrivals(meeting):
            if int(size) != self.processes:
                raise RuntimeError(
                    f"{launcher} started a world of {size} instead of {self.processes}: "
                    "it does not belong to the MPI library that mpi4py loads"
                )
            channels[int(number)] = channel
            if len(channels) == self.processes:
                break
        return [channels[number] for number in range(self.processes)]

    def _arrivals(self, meeting: socket.socket) -> Iterator[tuple[Connection, list[str]]]:
        """Yield who comes and knows the secret, with two words that it says; raise ``RuntimeError`` where none does."""
        meeting.settimeout(0.2)
        deadline = time.monotonic() + START
        while True:
            with contextlib.suppress(TimeoutError):
                end, _ = meeting.accept()
                end.setblocking(True)
                channel = Connection(end.detach())
                hello = _hello(channel)
                if hello is None or not secrets.compare_digest(hello[0], self._secret):
                    channel.close()  # anybody can come to a port
                    continue
                yield channel, hello[1:]
            if self._popen.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self.world} ranks did not start: {self._said()}")

    def _missing(self, answers: Mapping[int, Observation], ended: bool, patience: float) -> Observation:
        """Return what is observed of a rank that gave no answer."""
        raised = [rank for rank, answer in answers.items() if answer.raised]
        if ended:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(5)
            error = RankError(kind="Crash", message=f"the job ended: {self._said()}", category="no_answer")
        elif raised:
            message = f"no answer after rank {raised[0]} raised; the job was ended, as MPI_Abort would"
            error = RankError(kind="Abort", message=message, category="no_answer")
        else:
            error = RankError(kind="Hang", message=f"no answer within {patience:.0f} s", category="no_answer")
        return Observation(errors=(error,))

    def _said(self) -> str:
        """Return the end of what launcher and ranks have written, and pass it on whole."""
        self._output.seek(0)
        text = self._output.read().decode(errors="replace")
        sys.stderr.write(text)
        lines = [line for line in text.splitlines() if line.strip(" =")]
        return " / ".join(lines[-12:])[-1500:] or "without a word"


def _hello(channel: Connection) -> list[str] | None:
    """Return the secret and two more words that a rank says; ``None`` for what is none."""
    try:
        if not channel.poll(HELLO):
            return None
        words = channel.recv_bytes(200).decode("ascii").split()
    except (OSError, EOFError, ValueError):
        return None
    return words if len(words) == 3 else None


decode: Final = msgspec.msgpack.Decoder(Observation).decode


def crashed(answers: Sequence[Observation]) -> bool:
    """Return whether ranks ended before they answered."""
    return any(error is not None and error.kind == "Crash" for answer in answers for error in answer.errors)


def aligned(case: Case, answers: Sequence[Observation]) -> bool:
    """Return whether the ranks can go on together: all answered, and each group as one where all of it must meet."""
    kinds = [answer.errors[0].kind if answer.errors and answer.errors[0] else None for answer in answers]
    # A message cut short was met in the middle of a collective.
    if {"Crash", "Abort", "Hang", "MPI_ERR_TRUNCATE", "MPI_ERR_IN_STATUS"} & set(kinds):
        return False
    program = case.program
    groups = [
        group
        for step in program.steps
        if step.op not in MESSAGES
        for group in rank_groups(program.mesh, step.axes, step.groups)
    ]
    return all(len({kinds[rank] for rank in group}) == 1 for group in groups)
