"""What carries one operation on one rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

Operation = Callable[..., Any]
"""Called on every rank with its block (a ``torch.Tensor``), its process group and the step's attributes by keyword.

Returns this rank's block of the result, fresh storage: a ``torch.Tensor`` again.
"""

POINT_TO_POINT: Final = frozenset({"permute"})
"""Operations that post sends and receives: a rank that raises midway may leave a receive posted, which would
take the message of a later case."""
