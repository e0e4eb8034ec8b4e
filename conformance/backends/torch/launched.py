"""Ranks of Torch that a launcher of the user's starts, on one host or on several: ``torchrun`` on each of them.

In ``CONFORMANCE_TORCH_LAUNCH`` ``{ranks}`` is the size of a world (``backends.launched`` has the rest). It runs what is
put behind it, with the variables that ``torchrun`` sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from conformance.backends.launched import Command, Launched
from conformance.backends.mpi.job import Job
from conformance.backends.torch.operation import Operation
from conformance.backends.torch.processes.schedule import refusal
from conformance.backends.torch.processes.shares import aligned

COMMAND: Final = Command("TORCH")


def launched(operations: dict[str, Operation]) -> Launched:
    """Return the ranks of the user's command; raise ``ValueError`` or ``OSError`` for one that starts none."""
    return Launched(COMMAND, _started, partial(refusal, operations=operations), aligned)


def _started(words: Sequence[str], world: int, meet: str) -> Job:
    return Job(words, world, {}, meet, "conformance.backends.torch.launched_rank")
