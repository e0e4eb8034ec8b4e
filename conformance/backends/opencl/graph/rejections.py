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


class ReductionUndefinedError(RejectionError):
    """A reduction that has no meaning for the dtype."""


class MeshAxisUnknownError(RejectionError):
    """An axis name the mesh does not have."""


class MeshAxisRepeatedError(RejectionError):
    """A mesh axis named twice."""


class GroupsNotPartitionError(RejectionError):
    """The groups do not name every rank exactly once."""


class UnequalGroupsError(RejectionError):
    """The groups differ in size where all ranks share one result shape."""


class AxisOutOfRangeError(RejectionError):
    """An axis the block does not have."""


class AxisRepeatedError(RejectionError):
    """An axis of the block named twice."""


class ExtentIndivisibleError(RejectionError):
    """An extent that does not split into equal pieces, one for each member."""


class ExtentUnequalError(RejectionError):
    """An untiled extent that is not the group size."""


class PositionOutOfRangeError(RejectionError):
    """A root, source or destination outside its group."""


class PositionRepeatedError(RejectionError):
    """Two pairs with one source or one destination."""


class NotPermutationError(RejectionError):
    """Sources that do not list every position once."""


class SplitSizesError(RejectionError):
    """Split sizes that are not a count for each member, do not mirror each other, or miss the rows of a block."""


class SliceTablesError(RejectionError):
    """Offsets and sizes that are no integers, not of one axis, not of one length, or not the sizes of the peers."""


class SliceOutOfRangeError(RejectionError):
    """A slice beyond the rows of the operand or of the output."""


class TransferMismatchError(RejectionError):
    """A recv that expects other pairs, groups, another shape or another dtype than was sent."""


class WrongValueError(RejectionError):
    """A token where blocks are needed, blocks where a token is needed, or a rank that holds nothing."""


class TargetMismatchError(RejectionError):
    """A target of another shape or dtype than its result, or not one target for each result."""


class ConstantTooLargeError(RejectionError):
    """A reduced number that int32 cannot hold."""


class BlocksDifferError(RejectionError):
    """Ranks that disagree on dtype or shape."""


class CallsDifferError(RejectionError):
    """Members of a group that call different operations, or give one different attributes."""


class GroupsDifferError(RejectionError):
    """Ranks that wait for each other in different groups, or in the same groups in different orders."""


class MemberDoneError(RejectionError):
    """Ranks that wait for one that has no step left."""
