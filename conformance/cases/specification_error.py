"""Raised where the specification contradicts itself: whoever adds an operation or a clause reads the message."""

from __future__ import annotations


class SpecificationError(Exception):
    """What the specification says of itself is wrong; the message says what, where, and what would be right."""
