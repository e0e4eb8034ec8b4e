"""Slices judged over a Dask cluster: each task has a process of its own judge one, and returns its note and log.

A crash of a backend or of a runner ends that process and never the Dask worker. Where a worker itself is lost, its
slices are judged by others.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor
from contextlib import contextmanager, suppress
from typing import Any, Final

import click

from conformance.cli.problems import Problem
from conformance.cli.slice_processes import dismiss

ANSWER: Final = 10.0
"""Seconds that a scheduler is waited for: at the start, and again once the connection is lost."""

WORKER: Final = 60.0
"""Seconds that a cluster without any worker is waited for: where machines are started on demand one takes its time."""

LOOK: Final = 2.0
"""Seconds between counts of the workers: each asks the scheduler."""

WINDOW: Final = 2
"""Slices under way for each thread of a worker: one is judged, and the next is there when it has ended."""


class Cluster:
    """The workers of a Dask scheduler."""

    here = False

    def __init__(self, client: Any, executor: Executor, address: str) -> None:
        """Take the workers that ``client`` of the scheduler at ``address`` knows."""
        self._client, self.executor, self._address = client, executor, address
        self._threads, self._counted, self._seen = 0, 0.0, time.monotonic()

    def width(self) -> int:
        """Return how many slices are judged at a time, once there is a worker; raise ``Problem`` where none comes."""
        while not self.window():
            time.sleep(0.2)
        return self._threads

    def window(self) -> int:
        """Return twice the threads of all workers; raise ``Problem`` where there are none, and no scheduler."""
        now = time.monotonic()
        if now - self._counted > LOOK or not self._threads:
            self._counted, self._threads = now, self._count()
            self._seen = now if self._threads else self._seen
            if now - self._seen > WORKER:
                raise Problem(
                    f"the scheduler at {self._address} has no worker; start one (dask worker {self._address}) and go "
                    "on with --resume, which judges no slice again that is there",
                    3,
                )
        return WINDOW * self._threads

    def explained(self, error: BaseException) -> str | None:
        """Return how a worker was lost; raise ``Problem`` where the scheduler is, or a worker lacks the suite."""
        from distributed import KilledWorker

        if isinstance(error, KilledWorker):
            return f"the workers that judged it were lost, the last of them {error.last_worker.address}"
        if isinstance(error, CancelledError):
            self._count()
            return "the connection to the scheduler was lost meanwhile"
        raise Problem(
            f"a worker of {self._address} cannot judge slices: {type(error).__name__}: {error}; install the same "
            "mesh-conformance on every host",
            3,
        ) from error

    def dismiss(self, job: bytes) -> None:
        """End the processes of an encoded job on every worker; where that cannot be said they end by themselves."""
        with suppress(Exception):
            if self._client.status == "running":
                self._client.run(dismiss, job, on_error="ignore")

    def _count(self) -> int:
        """Return the threads of all workers; raise ``Problem`` where the scheduler does not answer."""
        end = time.monotonic() + ANSWER
        while time.monotonic() < end and self._client.status in ("running", "connecting"):
            # While it is connected again a question fails at once.
            with suppress(OSError, TimeoutError, CancelledError, RuntimeError, ValueError):
                if self._client.status == "running":
                    found: dict[str, int] = self._client.sync(self._client.scheduler.ncores, callback_timeout=ANSWER)
                    return sum(found.values())
            time.sleep(0.2)
        raise Problem(
            f"the scheduler at {self._address} is gone; the slices that were judged are kept, and --resume with the "
            "same -o goes on with them",
            3,
        )


@contextmanager
def cluster(address: str) -> Iterator[Cluster]:
    """Yield the workers of the scheduler at ``address``.

    Raise ``UsageError`` without Dask and for what is no address, and ``Problem`` where nobody answers there.
    """
    try:
        from distributed import Client
        from distributed.comm.addressing import get_address_host_port
    except ImportError:
        raise click.UsageError("--scheduler needs Dask: pip install 'mesh-conformance[dask]'") from None
    # What it has to say of lost connections is told in one line.
    for name in ("distributed", "tornado", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        get_address_host_port(address)
    except (ValueError, TypeError, ImportError) as error:
        told = f"{address!r} is no address of a Dask scheduler: {error}; write tcp://HOST:8786"
        raise click.UsageError(told) from None
    try:
        asyncio.run(asyncio.wait_for(_introduced(address), ANSWER))
        client = Client(address, timeout=ANSWER, set_as_default=False)
    except (OSError, TimeoutError, ValueError, TypeError, EOFError) as error:
        why = str(error).partition("\n")[0] or f"nothing came within {ANSWER:g} s"
        raise Problem(f"no Dask scheduler answers at {address}: {why}; start one (dask scheduler)", 3) from None
    try:
        yield Cluster(client, client.get_executor(pure=False), address)
    finally:
        with suppress(Exception):
            client.close(timeout=2)


async def _introduced(address: str) -> None:
    """Ask who is at an address: a client would wait for ever where somebody listens who says nothing."""
    from distributed.core import rpc

    async with rpc(address) as other:
        said = await other.identity()
    if not isinstance(said, dict) or said.get("type") != "Scheduler":
        raise ValueError(f"a {said.get('type') if isinstance(said, dict) else 'stranger'} answers, and no scheduler")
