"""The one way to say that a case is malformed."""

from __future__ import annotations


class CaseError(ValueError):
    """A case that is malformed; the message is one line that says what is wrong and where."""
