"""The life of one rank, started by ``mpiexec``: ``python -m conformance.backends.mpi.rank WHERE SECRET``.

``WHERE`` is a socket's file, or the HOST:PORT of another machine.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Final

import msgspec
from mpi4py import MPI

from conformance.backends.attribution import framework
from conformance.backends.base import Backend, Unsupported
from conformance.backends.case_arrays import place_inputs, touched
from conformance.backends.exceptions import rank_error
from conformance.backends.meeting import leave_with, met
from conformance.backends.mpi.computing import computed
from conformance.backends.mpi.datatypes import Datatypes
from conformance.backends.mpi.messages import TAGGED, TAGS, TOKENS
from conformance.backends.mpi.operations import ALONE, CALLS, Call
from conformance.cases.case import Case
from conformance.cases.observation import Category, Observation, RankError
from conformance.cases.program.program import Groups, Program, Step, rank_groups
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import Tensor

COMMUNICATORS: Final = 64
"""Communicators kept; then all are freed. MPICH has about 2000."""

INSIDE: Final = (MPI.ERR_OTHER, MPI.ERR_INTERN, MPI.ERR_UNKNOWN, MPI.ERR_NO_MEM)
"""Error classes that do not say which argument is wrong."""

CLASSES: Final = {getattr(MPI, name): f"MPI_{name}" for name in sorted(dir(MPI)) if name.startswith("ERR_")}


class Communicators:
    """The communicators of this rank. All ranks see the same cases in the same order, so theirs are the same."""

    def __init__(self) -> None:
        """Start with none but the world."""
        self._known: dict[Groups, MPI.Comm] = {}

    def of(self, groups: Groups) -> MPI.Comm:
        """Return the communicator of this rank's group, in which ranks count in the order of the group."""
        if groups == (tuple(range(MPI.COMM_WORLD.Get_size())),):
            return MPI.COMM_WORLD
        if groups not in self._known:
            if len(self._known) >= COMMUNICATORS:
                for comm in self._known.values():
                    comm.Free()
                self._known.clear()
            rank = MPI.COMM_WORLD.Get_rank()
            colour, group = next((colour, group) for colour, group in enumerate(groups) if rank in group)
            self._known[groups] = MPI.COMM_WORLD.Split(colour, group.index(rank))
        return self._known[groups]


@dataclass(frozen=True, eq=False)
class Started:
    """A nonblocking call under way, with the arrays it reads and writes, and its result once somebody waited."""

    request: MPI.Request
    call: Call
    found: list[Array | None]


def main(where: str, secret: str) -> None:
    """Run the cases that come from the socket ``where`` until it ends."""
    end = met(where)
    threading.Thread(target=leave_with, args=(end.fileno(),), daemon=True).start()
    channel = Connection(end.detach())
    channel.send_bytes(f"{secret} {MPI.COMM_WORLD.Get_rank()} {MPI.COMM_WORLD.Get_size()}".encode())
    decode, encode = msgspec.msgpack.Decoder(tuple[int, Case]).decode, msgspec.msgpack.Encoder().encode
    rank = Ranked()
    while True:
        try:
            number, case = decode(channel.recv_bytes())
        except (EOFError, OSError):
            # An orderly exit would finalize MPI, which waits for ranks that have left already.
            os._exit(1)
        channel.send_bytes(encode(rank.observe(case, number)))
        rank.settle()


class Ranked(Backend):
    """One rank as a backend: every operand is a list of one block, its own."""

    adapts = True

    def __init__(self) -> None:
        """Start with no communicator but the world, and nothing under way."""
        self._communicators = Communicators()
        self._meetings: dict[int, MPI.Comm] = {}
        self._started: list[Started] = []
        self._number = 0

    def observe(self, case: Case, number: int) -> Observation:
        """Run ``case`` and return what happened here. ``number`` tells it from others, the same on all ranks."""
        placed = place_inputs(case)
        results: dict[str, tuple[Tensor | None, ...]] = {}
        errors: tuple[RankError, ...] = ()
        start = time.perf_counter()
        try:
            # Before any step can raise here and not elsewhere: making one is a matter of all ranks.
            mesh = case.program.mesh
            groups = [rank_groups(mesh, step.axes, step.groups) for step in case.program.collectives]
            steps = zip(case.program.collectives, groups, strict=True)
            self._meetings = {id(step): self._communicators.of(of) for step, of in steps}
            # Cases have few steps, and tags are told apart as long as messages are under way.
            self._number = 32 * number
            results = self._walk(case, placed)
        except Exception as error:  # noqa: BLE001 - whatever MPI raises is what happened
            errors = (described(error, adapts=self.adapts),)
        seconds = time.perf_counter() - start
        rank = MPI.COMM_WORLD.Get_rank()
        changes = touched(case, placed, inside=True)
        changed = tuple(msgspec.structs.replace(change, rank=rank) for change in changes)
        return Observation(results=results, errors=errors, touched=changed, seconds=seconds)

    def _inject_faults(self, case: Case, index: int) -> None:
        """Be late, where this rank is to be."""
        if case.divergent or case.dying:
            raise Unsupported(
                "members of a communicator make the same calls, and none dies: else a program is erroneous"
            )
        for fault in case.faults:
            if fault.before == index and fault.rank == MPI.COMM_WORLD.Get_rank():
                time.sleep(fault.delay or 0)

    def compute(self, step: Step, operands: Sequence[Sequence[Array]]) -> list[Array]:
        """Return what NumPy gives of this rank's blocks."""
        return [computed(step, [block for (block,) in operands])]

    def settle(self) -> None:
        """Complete what an error kept from being waited for, as MPI wants of every request; so do all ranks or none."""
        started, self._started = self._started, []
        for one in started:
            with framework():
                one.request.Wait()

    def wait(self, ticket: Started) -> list[Array | None]:
        """Wait for a request; waiting again is for ``MPI_REQUEST_NULL``, and legal."""
        with framework():
            ticket.request.Wait()
        if not ticket.found:
            ticket.found.append(ticket.call.result())
            self._started.remove(ticket)
        return ticket.found

    def _collective(self, program: Program, step: Step, operands: list[Any], targets: list[Any]) -> list[Any]:
        """Return the result of each operand, or its ticket."""
        del program
        comm = self._meetings[id(step)]
        self._number += 1
        if targets and len(targets) != len(step.outputs):
            raise ValueError(f"{len(step.outputs)} results cannot be received in {len(targets)} targets")
        if step.op in ALONE:
            with framework():
                return [[ALONE[step.op](comm, **step.attrs)]]
        outs = targets or [None] * len(operands)
        pairs = zip(operands, outs, strict=True)
        if step.idle:
            raise Unsupported("over no axis nobody meets, and there is no call of MPI to make")
        if step.op in TOKENS:
            return [[TOKENS[step.op](blocks[0], comm, self._number % TAGS, **step.attrs)] for blocks in operands]
        return [self._called(step, comm, blocks[0], out and out[0]) for blocks, out in pairs]

    def _called(self, step: Step, comm: MPI.Comm, block: Array, out: Array | None) -> Any:
        tag = (self._number % TAGS,) if step.op in TAGGED else ()
        with Datatypes() as datatypes:
            call = {**CALLS, **TAGGED}[step.op](block, out, comm, datatypes, *tag, **step.attrs)
            if not step.start:
                with framework():
                    getattr(comm, call.name)(*call.arguments)
                return [call.result()]
            with framework():
                request = getattr(comm, f"I{call.name.lower()}")(*call.arguments)
            started = Started(request, call, [])
        self._started.append(started)
        return started


def described(error: Exception, *, adapts: bool = False) -> RankError:
    """Return an exception as data; MPI's own are classed by their error class, which is what MPI calls the category."""
    if not isinstance(error, MPI.Exception):
        return rank_error(error, adapts=adapts)
    found = error.Get_error_class()
    category: Category = "internal" if found in INSIDE else "invalid_argument"
    return RankError(kind=CLASSES.get(found, "MPI_ERR"), message=str(error)[:2000], category=category)


if __name__ == "__main__":
    main(*sys.argv[1:])
