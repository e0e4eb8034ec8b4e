"""Where the seconds of a worker went."""

from __future__ import annotations

from conformance.backends.protocol import Spent
from conformance.runner.worker.seconds import WorkerSeconds


def test_what_a_process_was_busy_with_beside_its_answer_and_its_compiler_is_the_rest() -> None:
    seconds = WorkerSeconds()
    seconds.hear(2.0, Spent(compile=0.5, busy=5.0))
    seconds.hear(1.0, Spent(compile=4.0, busy=4.5))
    assert (seconds.compile, seconds.execution, seconds.rest) == (4.5, 1.5, 3.5)
