"""The ways a collective has no meaning: each names what was wrong and what would be right."""

from __future__ import annotations


class Rejection(ValueError):
    """A collective was asked for that has no meaning; nothing has moved."""


class UnknownOperation(Rejection):
    """No such operation."""


class WrongAttributes(Rejection):
    """Attributes are missing, surplus or of the wrong type."""


class UnknownReduction(Rejection):
    """No such reduction."""


class GroupsNotPartition(Rejection):
    """The groups do not name every rank exactly once."""


class UnequalGroups(Rejection):
    """The groups differ in size where all ranks share one result shape."""


class AxisOutOfRange(Rejection):
    """An axis the block does not have."""


class ExtentIndivisible(Rejection):
    """An extent that does not split into equal pieces, one for each member."""


class ExtentUnequal(Rejection):
    """An untiled extent that is not the group size."""


class PositionOutOfRange(Rejection):
    """A root, source or destination outside its group."""


class PositionRepeated(Rejection):
    """Two pairs with one source or one destination."""


class BlocksDiffer(Rejection):
    """Ranks that disagree on dtype or shape."""
