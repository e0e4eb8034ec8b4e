"""The one way to say that a schedule says nothing definite."""

from __future__ import annotations

from conformance.cases.case_error import CaseError


class ScheduleError(CaseError):
    """A schedule that is malformed by ``clause``; the message is one line that names the item and the reason."""

    def __init__(self, clause: str, message: str) -> None:
        """Complain in ``message``."""
        super().__init__(message)
        self.clause = clause
