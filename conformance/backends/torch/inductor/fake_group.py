"""A rank of a world that is not there: Torch's fake process group, in which nobody is met and nothing moves."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore

from conformance.backends.torch.processes.rank import Communicators
from conformance.cases.program.program import Groups


class NamedCommunicators(Communicators):
    """The process groups of a rank, and the members of each by the name that compiled calls have."""

    def __init__(self, rank: int, world: int) -> None:
        """Start with the world."""
        super().__init__(rank, world, timedelta(seconds=1))
        self.members: dict[str, tuple[int, ...]] = {dist.group.WORLD.group_name: tuple(range(world))}  # type: ignore[union-attr]  # there is one

    def of(self, groups: Groups) -> Any:
        """Return the process group that this rank is in."""
        found = super().of(groups)
        self.members[found.group_name] = tuple(dist.get_process_group_ranks(found))
        return found


@contextlib.contextmanager
def rank_of(rank: int, world: int) -> Iterator[NamedCommunicators]:
    """Be ``rank`` of ``world`` meanwhile; raise ``RuntimeError`` where this process is a rank already."""
    if dist.is_initialized():
        raise RuntimeError(f"this process is a rank already, and cannot be rank {rank} of {world}")
    dist.init_process_group("fake", rank=rank, world_size=world, store=FakeStore())
    try:
        yield NamedCommunicators(rank, world)
    finally:
        dist.destroy_process_group()
