"""The ways in which runs cannot be compared or kept."""

from __future__ import annotations


class HistoryError(ValueError):
    """An input is unusable; the message is one line that says what, where and what to do."""


class UnfinishedError(HistoryError):
    """What was asked for cannot be known from what there is: a slice is missing, a version does not install."""
