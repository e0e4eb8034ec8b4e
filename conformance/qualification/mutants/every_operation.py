"""A base for mistakes that are made once, around whatever operation is asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from conformance.backends.reference import Reference
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.operations import TABLE

Blocks = Sequence[Array | None]
Operation = Callable[..., Any]
"""An operation with its attributes bound; it still takes ``blocks`` and, by keyword, ``groups``."""

BLOCKS_TO_BLOCKS: Final = frozenset(
    name for name, row in TABLE.items() if row.operands == 1 and row.result == "block" and not row.takes_token
)
"""The operations that make of one block a rank, and no token, one block or none a rank."""


class EveryOperation(Reference, ABC):
    """A reference whose operations on blocks all pass through ``around``."""

    @abstractmethod
    def around(self, operation: Operation, blocks: list[Array], groups: Groups) -> Blocks:
        """Return what ``operation`` would, or something else."""

    def __getattr__(self, name: str) -> Any:
        """Return the operation called ``name``, wrapped."""
        operation = super().__getattr__(name)
        if name not in BLOCKS_TO_BLOCKS:
            return operation

        def wrapped(blocks: list[Array], *, groups: Groups, **attrs: Any) -> Blocks:
            return self.around(partial(operation, **attrs), blocks, groups)

        return wrapped


def over(change: Callable[[Array], Array], blocks: Blocks) -> Blocks:
    """Return ``change`` of every block that is there."""
    return [None if block is None else change(block) for block in blocks]
