"""The life of one rank process: join the world, then run the cases it is sent until the channel ends."""

from __future__ import annotations

import os
import socket
import sys
import time
import warnings
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec
import numpy as np
import torch
import torch.distributed as dist

from conformance.backends.base import Unsupported, place_inputs, rank_error, touched
from conformance.backends.torch import wire
from conformance.backends.torch.operation import Operation
from conformance.cases.case import Case
from conformance.cases.dtypes import NUMPY, Array, logical
from conformance.cases.observation import Observation
from conformance.cases.program import Groups, rank_groups
from conformance.cases.tensor import Tensor, from_array

# NumPy has no bfloat16 that Torch knows; integers of its width carry the bits.
BFLOAT16 = NUMPY["bfloat16"]


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
                self._known[group] = dist.new_group(list(group), timeout=self._timeout, sort_ranks=False)
        return next(self._known[group] for group in groups if self._rank in group)


def serve(
    channel: socket.socket, rank: int, world: int, store: str, timeout: float, operations: Mapping[str, Operation]
) -> None:
    """Run cases from ``channel`` as ``rank`` of ``world``, meeting the others at the file ``store``.

    After a case that raised here, the rest of its message is dropped: the other ranks may have been left
    behind, and the sender decides how to go on.
    """
    if sys.platform == "linux":
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
    patience = timedelta(seconds=timeout)
    meeting = dist.FileStore(store, world)  # type: ignore[attr-defined]  # exported, but not in its stubs
    dist.init_process_group("gloo", store=meeting, rank=rank, world_size=world, timeout=patience)
    communicators = Communicators(rank, world, patience)
    wire.send(channel, wire.encode_answer(wire.Answer()))
    inbox = wire.Inbox(channel)
    while (messages := inbox.read()) is not None:
        for message in messages:
            for case in wire.decode_cases(message):
                observation = observe(case, rank, operations, communicators)
                wire.send(channel, wire.encode_answer(wire.Answer(observation=observation)))
                if observation.raised:
                    break


def observe(case: Case, rank: int, operations: Mapping[str, Operation], communicators: Communicators) -> Observation:
    """Run ``case``, whose operands hold the block of this rank alone, and return what happened here."""
    placed = place_inputs(case)
    start = time.perf_counter()
    try:
        values = {name: to_torch(blocks[0][1]) for name, blocks in placed.items()}
        run(case, values, operations, communicators)
        results: dict[str, tuple[Tensor | None, ...]] = {
            name: (to_tensor(values[name]),) for name in case.program.results
        }
    except Exception as error:  # noqa: BLE001 - whatever Torch raises is what happened
        seen = Observation(errors=(rank_error(error),), touched=touched(case, placed))
    else:
        seen = Observation(results=results, touched=touched(case, placed))
    changed = tuple(msgspec.structs.replace(change, rank=rank) for change in seen.touched)
    return msgspec.structs.replace(seen, touched=changed, seconds=time.perf_counter() - start)


def run(
    case: Case, values: dict[str, torch.Tensor], operations: Mapping[str, Operation], communicators: Communicators
) -> None:
    """Run the steps in order, adding the outputs to ``values``."""
    for step in case.program.steps:
        if step.op not in operations:
            raise Unsupported(f"Torch has no carrier for {step.op}; it has {', '.join(sorted(operations))}")
        group = communicators.of(rank_groups(case.program.mesh, step.axes, step.groups))
        for source, target in zip(step.inputs, step.outputs, strict=True):
            values[target] = operations[step.op](values[source], group, **step.attrs)


def to_torch(view: Array) -> torch.Tensor:
    """Return a tensor on the memory of ``view``, with its strides and offset."""
    if view.dtype == BFLOAT16:
        return torch.from_numpy(view.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(view)


def to_tensor(value: torch.Tensor) -> Tensor:
    """Return the bits of ``value``; raise ``ValueError`` for a dtype outside the specification."""
    if value.dtype == torch.bfloat16:
        return from_array(value.view(torch.int16).numpy().view(BFLOAT16))
    array = value.numpy()
    logical(array.dtype)
    return from_array(array)
