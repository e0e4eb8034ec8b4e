"""The life of one rank, started by ``mpiexec``: ``python -m conformance.backends.mpi.rank SOCKET``."""

from __future__ import annotations

import os
import select
import socket
import sys
import threading
import time
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Any, Final

import msgspec
from mpi4py import MPI

from conformance.backends.base import place_inputs, rank_error, touched
from conformance.backends.mpi.operations import ALONE, MAPPED, TAGGED
from conformance.cases.case import Case
from conformance.cases.observation import Category, Observation, RankError
from conformance.cases.program import Groups, Step, rank_groups
from conformance.cases.tensor import Tensor, from_array

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


def main(path: str) -> None:
    """Run the cases that come from the socket at ``path`` until it ends."""
    end = socket.socket(socket.AF_UNIX)
    end.connect(path)
    threading.Thread(target=leave_with, args=(end.fileno(),), daemon=True).start()
    channel = Connection(end.detach())
    channel.send_bytes(str(MPI.COMM_WORLD.Get_rank()).encode())
    decode, encode = msgspec.msgpack.Decoder(tuple[int, Case]).decode, msgspec.msgpack.Encoder().encode
    communicators = Communicators()
    while True:
        number, case = decode(channel.recv_bytes())
        channel.send_bytes(encode(observe(case, number, communicators)))


def leave_with(descriptor: int) -> None:
    """End this process when nobody holds the other end any more, wherever its main thread waits."""
    ended = select.poll()
    ended.register(descriptor, select.POLLHUP)
    ended.poll()
    os._exit(1)


def observe(case: Case, number: int, communicators: Communicators) -> Observation:
    """Run ``case``, whose operands hold the block of this rank alone, and return what happened here."""
    placed = place_inputs(case)
    results: dict[str, tuple[Tensor | None, ...]] = {}
    errors: tuple[RankError, ...] = ()
    start = time.perf_counter()
    try:
        values = run(case, {name: blocks[0][1] for name, blocks in placed.items()}, number, communicators)
        results = {name: (tensor(values[name]),) for name in case.program.results}
    except Exception as error:  # noqa: BLE001 - whatever MPI raises is what happened
        errors = (described(error),)
    seconds = time.perf_counter() - start
    rank = MPI.COMM_WORLD.Get_rank()
    changed = tuple(msgspec.structs.replace(change, rank=rank) for change in touched(case, placed))
    return Observation(results=results, errors=errors, touched=changed, seconds=seconds)


def run(case: Case, inputs: Mapping[str, Any], number: int, communicators: Communicators) -> dict[str, Any]:
    """Return all values after the steps in order. ``number`` tells this case from others, the same on all ranks."""
    program, values = case.program, dict(inputs)
    # Before any step can raise here and not elsewhere: making one is a matter of all ranks.
    meetings = [communicators.of(rank_groups(program.mesh, step.axes, step.groups)) for step in program.steps]
    for at, (step, comm) in enumerate(zip(program.steps, meetings, strict=True)):
        # Cases have few steps, and tags are told apart as long as messages are under way.
        tag = (8 * number + at) % 32768
        values.update(zip(step.outputs, outputs(step, values, comm, tag), strict=False))
    return values


def outputs(step: Step, values: Mapping[str, Any], comm: MPI.Comm, tag: int) -> list[Any]:
    """Return this rank's block of each result of a step."""
    blocks = [values[name] for name in step.inputs]
    if step.op in ALONE:
        return [ALONE[step.op](comm, **step.attrs)]
    if step.idle:
        return blocks  # Nobody meets, so nothing is asked of MPI.
    if step.op in TAGGED:
        return [TAGGED[step.op](block, comm, tag, **step.attrs) for block in blocks]
    return [MAPPED[step.op](block, comm, **step.attrs) for block in blocks]


def tensor(block: Any) -> Tensor | None:
    """Return a block, if there is one, as data."""
    return None if block is None else from_array(block)


def described(error: Exception) -> RankError:
    """Return an exception as data; MPI's own are classed by their error class, which is what MPI calls the category."""
    if not isinstance(error, MPI.Exception):
        return rank_error(error)
    found = error.Get_error_class()
    category: Category = "internal" if found in INSIDE else "invalid_argument"
    return RankError(kind=CLASSES.get(found, "MPI_ERR"), message=str(error)[:2000], category=category)


if __name__ == "__main__":
    main(sys.argv[1])
