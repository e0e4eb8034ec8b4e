"""The one way a report says that it cannot be made."""

from __future__ import annotations


class ReportError(ValueError):
    """An input or the output folder is unusable; the message is one line that says what, where and what to do."""
