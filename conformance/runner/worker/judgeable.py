"""What a run needs of a worker, in its own process or in this one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from conformance.backends.protocol import Ready
from conformance.cases.case import Case
from conformance.runner.worker.answers import Answer, Question
from conformance.runner.worker.waiting import Waitable


class Judgeable(Waitable, Protocol):
    """A worker, in its own process or in this one."""

    @property
    def ready(self) -> Ready:
        """Return how the backend introduced itself; raise ``StartError`` when it does not start."""

    @property
    def outstanding(self) -> int:
        """Return how many submitted cases ``poll`` has not returned yet."""

    def submit(self, case: Case | Question) -> int:
        """Queue a case, or the question for a schedule, and return its ticket."""

    def poll(self, timeout: float) -> list[tuple[int, Answer]]:
        """Return the answers that arrived, by ticket, waiting up to ``timeout`` seconds for the first."""

    def ask(self, case: Case | Question) -> Answer:
        """Return the answer to one case or question."""

    def alone(self, cases: Sequence[Case], late: Callable[[], bool] = ...) -> list[Answer] | None:
        """Return the answers to cases run one after the other in a process of their own; ``None`` where none can be."""

    def renew(self) -> None:
        """End the process, so that the next case begins with a fresh one."""

    def cancel(self) -> None:
        """Give up what was submitted and not answered."""

    def close(self) -> None:
        """End the backend."""
