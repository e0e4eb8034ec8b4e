"""The limit: two threads that copy as many bytes as all ranks hold, the least that any of the operations moves."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from conformance.bench.collectives.point import Point, wrong


class Copy:
    """``np.copyto`` in two halves."""

    def __init__(self) -> None:
        """Start the threads."""
        self._pool = ThreadPoolExecutor(2)

    def describe(self) -> dict[str, str]:
        """Return how it copies."""
        return {"numpy": np.__version__, "threads": "2"}

    def prepare(self, point: Point) -> None:
        """Make source and target, both touched."""
        self._source = np.concatenate([point.block(0)] * -(-point.size * point.ranks // (4 * point.brought)))
        self._target = np.zeros_like(self._source)

    def once(self) -> None:
        """Copy."""
        half = self._source.size // 2
        parts = (slice(None, half), slice(half, None))
        for done in [self._pool.submit(np.copyto, self._target[part], self._source[part]) for part in parts]:
            done.result()

    def meet(self) -> None:
        """Do nothing: there is one process."""

    def wrong(self) -> int:
        """Return how many elements were not copied."""
        self._target[:] = 0
        self.once()
        return wrong(self._target, self._source)


def peer(_rank: int, _ranks: int, _folder: str) -> Copy:
    """Return the peer."""
    return Copy()
