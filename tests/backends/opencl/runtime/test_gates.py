"""Queues that begin when the host waits: what should have waited for another queue is there before it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from conformance.backends.opencl.runtime import NoPlatformError
from conformance.backends.opencl.runtime.gates import Gates
from conformance.backends.opencl.runtime.platform import open_platform
from conformance.backends.opencl.runtime.session import Session
from conformance.backends.opencl.settings import Settings, from_environment


def written_and_read(session: Session, gates: Gates, *, first: int, wait: bool) -> int:
    """Return what queue ``1 - first`` reads of a zero over which queue ``first`` writes a seven."""
    platform, zero, seven, read = session.platform, *(np.array([value], np.int32) for value in (0, 7, -1))
    held = cl.Buffer(platform.context, cl.mem_flags.COPY_HOST_PTR, hostbuf=zero)
    gates.shut((0, 1))
    queues = platform.queues[first], platform.queues[1 - first]
    written = cl.enqueue_copy(queues[0], held, seven, is_blocking=False)
    done = cl.enqueue_copy(queues[1], read, held, is_blocking=False, wait_for=[written] if wait else None)
    platform.flush()
    gates.open_for([done])
    gates.open()
    cl.wait_for_events([done, written])
    return int(read[0])


@pytest.mark.parametrize("turns", [0, 1])
def test_a_missing_wait_shows_in_one_of_two_turns_whichever_queue_is_first(
    turns: int, session: Session, monkeypatch: Any
) -> None:
    monkeypatch.setattr("conformance.backends.opencl.runtime.gates.PATIENCE", 60.0)
    gates = Gates(session.platform.context, session.platform.queues)
    missing = [written_and_read(session, gates, first=turns, wait=False) for _ in range(2)]
    assert sorted(missing) == [0, 7]


def test_a_wait_is_kept_in_any_order(session: Session) -> None:
    gates = Gates(session.platform.context, session.platform.queues)
    assert {written_and_read(session, gates, first=number % 2, wait=True) for number in range(4)} == {7}


def test_devices_that_hold_nothing_are_refused(monkeypatch: Any) -> None:
    monkeypatch.setenv("POCL_DEVICES", "basic")
    with pytest.raises(NoPlatformError, match="basic devices hold none"):
        open_platform(Settings(platform="Portable", held=True))


def test_the_environment_asks_for_held_queues() -> None:
    assert from_environment({"CONFORMANCE_OPENCL_HELD": "on"}).held
    with pytest.raises(ValueError, match="CONFORMANCE_OPENCL_HELD is 'yes'; it must be on or off"):
        from_environment({"CONFORMANCE_OPENCL_HELD": "yes"})


def test_a_copy_from_the_host_is_held_until_it_is_done(session: Session) -> None:
    platform, sent = session.platform, np.array([7], np.int32)
    gates = Gates(platform.context, platform.queues)
    held = cl.Buffer(platform.context, cl.mem_flags.READ_WRITE, sent.nbytes)
    gates.shut((0,))
    event = cl.enqueue_copy(platform.queues[0], held, sent, is_blocking=False)
    alone = sys.getrefcount(event)
    gates.keep(event)
    gates.open_for([])
    assert sys.getrefcount(event) == alone + 1
    gates.open()
    cl.wait_for_events([event])
    gates.open_for([event])
    assert sys.getrefcount(event) == alone
