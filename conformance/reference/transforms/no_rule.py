"""The two ways in which a transform has no rule for a step."""

from __future__ import annotations


class NoRule(ValueError):
    """A transform has no rule for a step: what is started has no transpose and is mapped over nothing."""


class NotLinear(NoRule):
    """The step has no transpose: a maximum, a minimum or a position depends on its operand otherwise."""
