"""MPI under test: mpi4py on whatever MPI library it loads, one real process a rank under that library's ``mpiexec``.

The worker itself never initialises MPI. Ranks are started for each world size that cases ask for, and stay.
Measured (MPICH 5.0.2, two cores): a job of 2 ranks is up in 0.4 s and one of 8 in 1 s, so when ranks must be
started again after a hang, small worlds, which is where shrinking ends, cost less than one job of 8 with
communicators for the smaller worlds would.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar

from conformance.backends.base import Backend, Claims, Unsupported
from conformance.backends.exceptions import rank_error
from conformance.backends.mpi.claims import GUARANTEES, LAYOUTS, claims
from conformance.backends.mpi.job import LONGEST, Job, aligned, crashed
from conformance.backends.mpi.library import IMPLEMENTATIONS, LAUNCH, MEET, loaded
from conformance.backends.shares import merged, ungrouped
from conformance.cases.case import Case
from conformance.cases.declarations.guarantees import Guarantee
from conformance.cases.observation import Observation


class MPI(Backend):
    """Starts ranks as they are needed; raise ``ImportError`` without mpi4py or MPI, ``OSError`` without mpiexec."""

    name = "mpi"
    adapts = True
    system = "mpi"
    demands: ClassVar[str] = ""
    """The implementation (``library.IMPLEMENTATIONS``) that mpi4py has to load; any, where none is named."""

    def __init__(self) -> None:
        """Load the MPI library, to say which it is, but do not initialise it; find the launcher that belongs to it."""
        self._library = loaded()
        wanted = IMPLEMENTATIONS.get(self.demands, self._library.implementation)
        if wanted is not self._library.implementation:
            raise ImportError(
                f"mpi4py loads {self._library.name} here, and not {wanted.vendor}; in an environment of its own run: "
                f"pip install 'mesh-conformance[{self.name}]'"
            )
        self._launcher = self._library.launch(1).command[0]
        self._jobs: dict[int, Job] = {}

    @property
    def claims(self) -> Claims:
        """Return what the MPI standard defines."""
        return claims()

    @property
    def guarantees(self) -> Sequence[Guarantee]:
        """Return what the MPI standard requires of the bits of reductions."""
        return GUARANTEES

    @property
    def follows(self) -> Sequence[str]:
        """Return the source whose documented divergences are MPI's."""
        return ("mpi",)

    @property
    def patience(self) -> float:
        """Return the seconds after which ranks that do not answer are ended, however busy the machine is."""
        return LONGEST

    def describe(self) -> dict[str, str]:
        """Return versions and how ranks run."""
        return {
            "mpi4py": version("mpi4py"),
            "implementation": self._library.name,
            "library": self._library.text,
            "standard": self._library.standard,
            "launcher": Path(self._launcher).name,
            "ranks": "one process a rank under the launcher, kept for each world size",
            **({"launch": named} if (named := os.environ.get(LAUNCH)) else {}),
        }

    def execute(self, case: Case) -> Observation:
        """Run one case on the ranks of its world and return what happened."""
        reason = refusal(case)
        if reason:
            return Observation(errors=(rank_error(Unsupported(reason)),) * case.program.world)
        job = self._job(case.program.world)
        fresh = not job.served
        answers = job.ask(case)
        if crashed(answers) and not fresh:
            # An earlier case may have left broken memory: only ranks that have seen nothing else are witnesses.
            self._end(job)
            answers = self._job(case.program.world).ask(case)
        if not aligned(case, answers):
            self._end(self._jobs[case.program.world])
        return merged(case, answers)

    def close(self) -> None:
        """End every job."""
        for job in list(self._jobs.values()):
            self._end(job)

    def _job(self, world: int) -> Job:
        if world not in self._jobs:
            launch = self._library.launch(world)
            command = (self._launcher, *launch.command[1:])
            self._jobs[world] = Job(command, world, launch.environment, os.environ.get(MEET, ""))
        return self._jobs[world]

    def _end(self, job: Job) -> None:
        del self._jobs[job.world]
        job.kill()


class OpenMPI(MPI):
    """Open MPI, in an environment of its own beside that of ``mpi``."""

    name = "mpi-openmpi"
    demands = "openmpi"


class IntelMPI(MPI):
    """Intel MPI, in an environment of its own beside that of ``mpi``."""

    name = "mpi-intel"
    demands = "intel"


def refusal(case: Case) -> str | None:
    """Return why MPI cannot be asked to run ``case``, or ``None``."""
    program = case.program
    waited = {name for step in program.steps if step.op == "done" for name in step.inputs}
    if any(step.start and not waited.issuperset(step.outputs) for step in program.steps):
        return "MPI wants every collective that is started waited for"
    for step in program.collectives:
        if step.op not in claims():
            return f"MPI has no {step.op}; it has {', '.join(sorted(claims()))}"
        allowed = claims()[step.op].get("layout", LAYOUTS)
        for name in step.inputs:
            layouts = case.inputs[name].layouts if name in case.inputs else ()
            if not set(layouts) <= set(allowed):
                return f"{step.op} of MPI takes elements that lie one behind the other"
        reason = ungrouped(program, step, "colours of a split give each rank one communicator, which {groups} do not")
        if reason:
            return reason
    return None
