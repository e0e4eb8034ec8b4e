"""The one way the oracle says that a program has no meaning."""

from __future__ import annotations


class Rejected(ValueError):
    """The arguments break ``clause``; the message says what was wrong and what would be right."""

    def __init__(self, clause: str, message: str) -> None:
        """Reject by ``clause``, with a ``message`` for people."""
        super().__init__(message)
        self.clause = clause
