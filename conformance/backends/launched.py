"""Ranks that a launcher of the user's starts, on one host or on several, for any framework.

``CONFORMANCE_NAME_LAUNCH`` is the command, for a framework ``NAME``. It runs what is put behind it, once a process.
``CONFORMANCE_NAME_HOSTS`` (by default 1) says how many hosts share each world, and ranks come to
``CONFORMANCE_NAME_MEET``, an address of this machine.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from conformance.backends.base import Claims, Unsupported
from conformance.backends.exceptions import rank_error
from conformance.backends.mpi.job import Job, crashed
from conformance.backends.shares import merged
from conformance.cases.case import Case
from conformance.cases.observation import Observation

LARGEST: Final = 64
"""Ranks of the largest world of a case."""

PORT: Final = 29_500
"""The first of the numbers for ``{port}``: what ``torchrun`` takes by default."""


@dataclass(frozen=True)
class Command:
    """The user's command of one framework, with ``{number}`` where the processes of a world go.

    ``devices`` are the ranks of one process. ``{each}`` stands for the processes of a host, and ``{port}`` for another
    number in each world.
    """

    framework: str
    number: str = "ranks"
    devices: int = 1

    def checked(self) -> list[str]:
        """Return the words of the command.

        Raise ``ValueError`` for one that says no number of processes, and ``OSError`` where it is no program.
        """
        name, said = f"CONFORMANCE_{self.framework}_LAUNCH", self._said("LAUNCH")
        number = f"{{{self.number}}}"
        if number not in said and "{each}" not in said:
            raise ValueError(f"{name} is {said!r}, without {number} or {{each}}: nobody knows how many to start")
        words = shlex.split(said)
        if shutil.which(words[0]) is None:
            raise FileNotFoundError(f"{name} names {words[0]!r}, which is no program here")
        return words

    def words(self, world: int, started: int) -> list[str]:
        """Return the command for the processes of ``world`` ranks, of which ``started`` were started before."""
        processes = world // self.devices
        said = {self.number: processes, "each": processes // self.hosts, "port": PORT + started}
        words = self.checked()
        for name, value in said.items():
            words = [word.replace(f"{{{name}}}", str(value)) for word in words]
        return words

    @property
    def hosts(self) -> int:
        """Return how many hosts a world is on; raise ``ValueError`` where the variable says no number."""
        return number(f"CONFORMANCE_{self.framework}_HOSTS")

    @property
    def meet(self) -> str:
        """Return the address of this machine to which ranks come; none where they are on it."""
        return self._said("MEET")

    def within(self, claims: Claims, largest: int = LARGEST) -> Claims:
        """Return claims without worlds above the ``largest``, and those that hosts cannot share evenly."""
        least = self.hosts * self.devices
        worlds = [str(world) for world in range(least, largest + 1, least)]
        return {op: {**limits, "world": worlds} for op, limits in claims.items()}

    def uneven(self, world: int) -> str | None:
        """Return why ``world`` ranks cannot be started, or ``None``."""
        if not world % (self.hosts * self.devices):
            return None
        return f"{world} ranks are not as many on each of {self.hosts} hosts, {self.devices} a process"

    def _said(self, what: str) -> str:
        return os.environ.get(f"CONFORMANCE_{self.framework}_{what}", "")


def number(variable: str) -> int:
    """Return the number that a variable says, 1 where it is not set; raise ``ValueError`` where it says none."""
    said = os.environ.get(variable, "1")
    if not said.isdecimal() or not 1 <= int(said) <= LARGEST:
        raise ValueError(f"{variable} is {said!r}, and no number from 1 to {LARGEST}")
    return int(said)


class Launched:
    """Cases in, observations out, one after another; the ranks of each world stay until a case leaves them apart."""

    def __init__(
        self,
        command: Command,
        start: Callable[[Sequence[str], int, str], Job],
        refusal: Callable[[Case], str | None],
        aligned: Callable[[Case, Sequence[Observation]], bool],
    ) -> None:
        """Start nothing yet; ``start`` does, by words of a command, for a world, whose ranks come to an address.

        ``refusal`` says why a case cannot be asked, ``aligned`` whether ranks of which some raised can go on together.
        Raise ``ValueError`` for a command that says no number of processes, and ``OSError`` where it is no program.
        """
        command.checked()
        self._command, self._start, self._refusal, self._aligned = command, start, refusal, aligned
        self._jobs: dict[int, Job] = {}
        self._started = 0

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Yield one observation a case, in the order of the cases, which may become more meanwhile."""
        for case in cases:
            yield self._run(case)

    def close(self) -> None:
        """End every rank."""
        for job in self._jobs.values():
            job.kill()
        self._jobs.clear()

    def _run(self, case: Case) -> Observation:
        world = case.program.world
        reason = self._refusal(case) or self._command.uneven(world)
        if reason:
            return Observation(errors=(rank_error(Unsupported(reason)),) * world)
        job = self._job(world)
        fresh = not job.served
        answers = job.ask(case)
        if crashed(answers) and not fresh:
            # An earlier case may have left broken memory: only ranks that have seen nothing else are witnesses.
            self._end(world)
            answers = self._job(world).ask(case)
        if any(answer.raised for answer in answers) and not self._aligned(case, answers):
            self._end(world)
        return merged(case, answers, self._command.devices)

    def _job(self, world: int) -> Job:
        if world not in self._jobs:
            words = self._command.words(world, self._started)
            self._started += 1
            self._jobs[world] = self._start(words, world, self._command.meet)
        return self._jobs[world]

    def _end(self, world: int) -> None:
        self._jobs.pop(world).kill()
