"""What carries one operation on one rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from conformance.cases.program import Step

Operation = Callable[..., Any]
"""Called on every rank with its block (a ``torch.Tensor``), its process group and the step's attributes by keyword.

Returns this rank's block of the result, fresh storage: a ``torch.Tensor`` again.
"""


POINT_TO_POINT: Final = frozenset({"permute"})
"""Operations of sends and receives, in which a rank that raises need not concern the others of its group."""


def leaves_posted(step: Step, position: int) -> bool:
    """Return whether the member at ``position``, raising in a point-to-point step, may leave a receive posted.

    That would take the message of a later case. One that only speaks to itself is connected to nobody.
    """
    pairs: Any = step.attrs["pairs"]
    return any(position in pair and pair[0] != pair[1] for pair in pairs)
