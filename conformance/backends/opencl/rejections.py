"""The ways a collective has no meaning: each names what was wrong and what would be right."""

from __future__ import annotations


class RejectionError(ValueError):
    """A collective was asked for that has no meaning; nothing has moved."""


class UnknownOperationError(RejectionError):
    """No such operation."""


class WrongAttributesError(RejectionError):
    """Attributes are missing, surplus or of the wrong type."""


class UnknownReductionError(RejectionError):
    """No such reduction."""


class GroupsNotPartitionError(RejectionError):
    """The groups do not name every rank exactly once."""


class UnequalGroupsError(RejectionError):
    """The groups differ in size where all ranks share one result shape."""


class AxisOutOfRangeError(RejectionError):
    """An axis the block does not have."""


class ExtentIndivisibleError(RejectionError):
    """An extent that does not split into equal pieces, one for each member."""


class ExtentUnequalError(RejectionError):
    """An untiled extent that is not the group size."""


class PositionOutOfRangeError(RejectionError):
    """A root, source or destination outside its group."""


class PositionRepeatedError(RejectionError):
    """Two pairs with one source or one destination."""


class BlocksDifferError(RejectionError):
    """Ranks that disagree on dtype or shape."""
