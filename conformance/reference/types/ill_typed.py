"""The one way the checker refuses a program."""

from __future__ import annotations


class IllTyped(ValueError):
    """The types of a step's operands break the rule ``clause``; the message names the step, the types and the axes."""

    def __init__(self, clause: str, message: str) -> None:
        """Refuse by ``clause``, with a ``message`` for people."""
        super().__init__(message)
        self.clause = clause
