"""Ranks of JAX in several processes, on one host or on several, which ``jax.distributed`` makes one program.

``CONFORMANCE_JAX_LAUNCH`` is the command, in which ``{processes}`` is how many a world has: its ranks divided by
``CONFORMANCE_JAX_DEVICES``, the devices of each (by default 1). ``backends.launched`` has the rest. The launcher need
tell processes nothing: they say where they are, and this one numbers them, host by host.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any, Final, NamedTuple

import msgspec

from conformance.backends.base import Claims, Unsupported
from conformance.backends.jax.claims import claims
from conformance.backends.jax.kinds import kinds
from conformance.backends.launched import Command, Launched, number
from conformance.backends.mpi.job import START, Job, Patience
from conformance.cases.case import Case
from conformance.cases.observation import Observation

LAUNCH: Final = "CONFORMANCE_JAX_LAUNCH"
DEVICES: Final = "CONFORMANCE_JAX_DEVICES"

PATIENCE: Final = Patience(deadline=10.0, longest=90.0, grace=10.0)
"""Processes trace and compile a case each for itself, one of them later than another by as long as that takes: 3 s of
four processes on two cores at a load of 20. The runner waits for two minutes."""

LARGEST: Final = 8
"""Ranks of the largest world on each host: 32 processes on two cores did not meet in a minute."""


class Number(NamedTuple):
    """What a process is told: its number of how many, the coordinator's HOST:PORT, and its devices."""

    process: int
    processes: int
    coordinator: str
    devices: int


def command() -> Command:
    """Return the user's command; raise ``ValueError`` where ``DEVICES`` says no number."""
    return Command("JAX", "processes", number(DEVICES))


def launched() -> Launched:
    """Return the processes of the user's command; raise ``ValueError`` or ``OSError`` for one that starts none."""
    said = command()

    def started(words: Sequence[str], world: int, meet: str) -> Job:
        return _Job(words, world, {}, meet, "conformance.backends.jax.launched_process", said.devices, PATIENCE)

    return Launched(said, started, _refusal, _aligned)


def launched_claims() -> Claims:
    """Return what JAX documents of collectives, for the worlds that processes and hosts share evenly."""
    said = command()
    return said.within(claims(platform(), checked=True), LARGEST * said.hosts)


def platform() -> str:
    """Return the platform that processes run on, as JAX's devices name it; this process makes no device."""
    said = os.environ.get("JAX_PLATFORMS", "cpu").partition(",")[0]
    return "gpu" if said in ("cuda", "rocm") else said


class _Job(Job):
    """Processes that are numbered when all have come, and then meet at the coordinator that the first of them is."""

    def _met(self, meeting: Any, launcher: str) -> list[Connection]:
        del launcher
        arrivals = self._arrivals(meeting)
        came = [(words[0], words[1], channel) for channel, words in (next(arrivals) for _ in range(self.processes))]
        hosts = list(dict.fromkeys(host for host, _, _ in came))
        came.sort(key=lambda one: hosts.index(one[0]))
        coordinator = f"{came[0][0]}:{came[0][1]}"
        for process, (_, _, channel) in enumerate(came):
            told = Number(process, self.processes, coordinator, self.world // self.processes)
            channel.send_bytes(msgspec.msgpack.encode(told))
        channels = [channel for _, _, channel in came]
        for channel in channels:
            self._together(channel)
        return channels

    def _together(self, channel: Connection) -> None:
        """Wait until a process has met the others; raise ``RuntimeError`` where it does not."""
        try:
            met = channel.poll(START) and channel.recv_bytes(2)
        except (OSError, EOFError):
            met = False
        if not met:
            raise RuntimeError(f"{self.processes} processes did not meet: {self._said()}")


def _refusal(case: Case) -> str | None:
    """Return why JAX cannot be asked to run ``case``, or ``None``: no process sees the blocks of others."""
    try:
        kinds(case)
    except Unsupported as reason:
        return str(reason)
    return None


def _aligned(case: Case, answers: Sequence[Observation]) -> bool:
    """Return whether all processes raised alike, as where a program is refused before any of it runs."""
    del case
    kinds = {answer.errors[0].kind if answer.errors and answer.errors[0] else None for answer in answers}
    return len(kinds) == 1 and kinds.isdisjoint({"Crash", "Hang", "Abort"})
