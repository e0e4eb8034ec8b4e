"""The rank processes that run programs on distributed tensors, a pool for each number of devices."""

from __future__ import annotations

import time

import msgspec

from conformance.backends.torch.dtensor import Part, serve
from conformance.backends.torch.processes.store import Store
from conformance.backends.torch.processes.world import World
from conformance.cases.observation import Observation, RankError
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Layout
from conformance.cases.tensor.tensor import Tensor


class Ranks:
    """The processes of one world."""

    def __init__(self, world: int, store: Store) -> None:
        """Start nothing yet."""
        self._processes = World(world, store, serve, Part)

    def run(self, case: ShardedCase) -> Observation:
        """Run a case on all ranks and return what each of them has of its results."""
        began = time.monotonic()
        parts = self._processes.ask(case)
        if isinstance(parts, str):
            error = RankError(kind="Crash", message=parts, category="no_answer")
            return Observation(errors=(error,) * self._processes.world)
        seen = _merged(case, [parts[device] for device in case.devices])
        if seen.raised:
            # Some may have left the others in the middle of a collective.
            self.close()
        return msgspec.structs.replace(seen, seconds=time.monotonic() - began)

    def close(self) -> None:
        """Kill the ranks."""
        self._processes.close()


def _merged(case: ShardedCase, parts: list[Part]) -> Observation:
    """Return what the positions of the mesh have, or what they raised."""
    errors = tuple(part.error for part in parts)
    if any(errors):
        return Observation(errors=errors)
    layouts = {
        key: Layout(boxes=tuple(part.boxes[key] for part in parts), partial=parts[0].partial[key])
        for key in case.results
    }
    results: dict[str, tuple[Tensor | None, ...]] = {
        key: tuple((part.results or {})[key] for part in parts) for key in case.results
    }
    return Observation(results=results, layouts=layouts, sizes=parts[0].sizes)
