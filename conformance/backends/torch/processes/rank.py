"""The life of one rank process: join the world, then run the cases it is sent until the channel ends."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
import warnings
from collections import deque
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

import msgspec
import numpy as np
import torch
import torch.distributed as dist

from conformance.backends.attribution import framework
from conformance.backends.case_arrays import place_inputs, touched
from conformance.backends.torch.computing import computed
from conformance.backends.torch.effects import Storage, formed
from conformance.backends.torch.error_messages import described
from conformance.backends.torch.operation import Operation, idle
from conformance.backends.torch.processes import wire
from conformance.backends.torch.processes.store import Meeting
from conformance.cases.case import Case
from conformance.cases.observation import Observation
from conformance.cases.program.program import COMPUTING, EFFECTS, Groups, rank_groups
from conformance.cases.tensor.dtypes import NUMPY, Array, logical
from conformance.cases.tensor.tensor import Tensor, from_array

FOREIGN: Final = {
    NUMPY["bfloat16"]: (np.int16, torch.int16, torch.bfloat16),
    NUMPY["float8_e4m3fn"]: (np.uint8, torch.uint8, torch.float8_e4m3fn),
    NUMPY["float8_e5m2"]: (np.uint8, torch.uint8, torch.float8_e5m2),
}
"""Dtypes of extensions of NumPy, which Torch does not know there; integers of their width carry the bits."""

CARRIED: Final = {dtype: (carrier, array) for array, (_, carrier, dtype) in FOREIGN.items()}


class Communicators:
    """The process groups of this rank, created once for each group of ranks.

    ``new_group`` must be entered by every rank in the same order: all ranks see the same cases in the
    same order, so their caches are equal.
    """

    def __init__(self, rank: int, world: int, timeout: timedelta) -> None:
        """Start with the world itself, the default process group."""
        self._rank = rank
        self._timeout = timeout
        self._known: dict[tuple[int, ...], Any] = {tuple(range(world)): dist.group.WORLD}

    def of(self, groups: Groups) -> Any:
        """Return the process group this rank is in, with the given order of members."""
        for group in groups:
            if group not in self._known:
                with framework():
                    self._known[group] = dist.new_group(list(group), timeout=self._timeout, sort_ranks=False)
        return next(self._known[group] for group in groups if self._rank in group)


def serve(
    channel: socket.socket,
    rank: int,
    world: int,
    meeting: Meeting,
    timeout: float,
    operations: Mapping[str, Operation],
    *,
    checked: bool = False,
) -> None:
    """Run cases from ``channel`` as ``rank`` of ``world``, finding the others at ``meeting``.

    ``checked`` has every process group compare the calls of its ranks before it makes them.

    After a case that raised here, the next waits for another message, be it an empty one: the other ranks may have
    been left behind, and the sender decides whether to go on.
    """
    if sys.platform == "linux":
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
    if checked:
        os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"
        # Torch read the variable when it was imported, before this process was forked.
        dist.set_debug_level_from_env()  # type: ignore[attr-defined]  # exported, but not in its stubs
    patience = timedelta(seconds=timeout)
    dist.init_process_group("gloo", store=meeting.join(rank, world), rank=rank, world_size=world, timeout=patience)
    communicators = Communicators(rank, world, patience)
    wire.send(channel, wire.encode_answer(wire.Answer()))
    inbox = wire.Inbox(channel)
    cases: deque[Case] = deque()
    while (messages := inbox.read()) is not None:
        cases += [case for message in messages for case in wire.decode_cases(message)]
        raised = False
        while cases and not raised:
            observation = observe(cases.popleft(), rank, operations, communicators)
            wire.send(channel, wire.encode_answer(wire.Answer(observation=observation)))
            raised = observation.raised


def observe(case: Case, rank: int, operations: Mapping[str, Operation], communicators: Communicators) -> Observation:
    """Run ``case``, whose operands hold the block of this rank alone, and return what happened here."""
    placed = place_inputs(case)
    start = time.perf_counter()
    try:
        values: dict[str, Any] = {name: to_torch(blocks[0][1]) for name, blocks in placed.items()}
        run(case, values, operations, communicators, Storage(case, placed, to_torch))
        results: dict[str, tuple[Tensor | None, ...]] = {
            name: (to_tensor(values[name]),) for name in case.program.results
        }
    except Exception as error:  # noqa: BLE001 - whatever Torch raises is what happened
        seen = Observation(errors=(described(error),), touched=touched(case, placed, inside=True))
    else:
        seen = Observation(results=results, touched=touched(case, placed, inside=True))
    changed = tuple(msgspec.structs.replace(change, rank=rank) for change in seen.touched)
    return msgspec.structs.replace(seen, touched=changed, seconds=time.perf_counter() - start)


def run(
    case: Case,
    values: dict[str, Any],
    operations: Mapping[str, Operation],
    communicators: Communicators,
    storage: Storage,
) -> None:
    """Run the steps in order, those that are for this rank, adding the outputs to ``values``."""
    rank = dist.get_rank()
    for step in case.program.steps if case.troubled else ():
        # Every rank enters every group, in one order, before any of them goes its own way.
        communicators.of(rank_groups(case.program.mesh, step.axes, step.groups))
    for index, step in enumerate(case.program.steps):
        inject_faults(case, rank, index)
        if step.ranks is not None and rank not in step.ranks:
            values.update(dict.fromkeys(step.outputs))
            continue
        blocks = [values[name] for name in step.inputs]
        if step.op in EFFECTS:
            values.update(zip(step.outputs, storage.perform(step, blocks), strict=True))
            continue
        if step.op in COMPUTING:
            values[step.outputs[0]] = computed(step, blocks)
            continue
        group = None if idle(step) else communicators.of(rank_groups(case.program.mesh, step.axes, step.groups))
        if step.into or step.start:
            blocks = formed(step, blocks, [values[name] for name in step.into], group, operations)
            storage.written(step)
        elif group is not None:
            # The program holds its operands in the list it gives, and goes on with what is in there afterwards.
            held, blocks = blocks, operations[step.op](blocks, group, **step.attrs)
            values.update(zip(step.inputs, held, strict=True))
        else:
            blocks = [block.clone() if isinstance(block, torch.Tensor) else block for block in blocks]
        values.update(zip(step.outputs, blocks, strict=True))


def inject_faults(case: Case, rank: int, index: int) -> None:
    """Be late before step ``index``, or die, where that is what befalls ``rank``."""
    for fault in case.faults:
        if (fault.rank, fault.before) == (rank, index):
            if fault.delay is None:
                os.kill(os.getpid(), signal.SIGKILL)
            else:
                time.sleep(fault.delay)


def to_torch(view: Array) -> torch.Tensor:
    """Return a tensor on the memory of ``view``, with its strides and offset."""
    if view.dtype in FOREIGN:
        carrier, _, dtype = FOREIGN[view.dtype]
        return torch.from_numpy(view.view(carrier)).view(dtype)
    return torch.from_numpy(view)


def to_tensor(value: torch.Tensor | None) -> Tensor | None:
    """Return the bits of ``value``, if there is one; raise ``ValueError`` for a dtype outside the specification."""
    if value is None:
        return None
    if value.dtype in CARRIED:
        carrier, dtype = CARRIED[value.dtype]
        return from_array(value.view(carrier).numpy().view(dtype))
    array = value.numpy()
    logical(array.dtype)
    return from_array(array)
