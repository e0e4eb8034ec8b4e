"""A base for mistakes that are made once, around whatever operation is asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

from conformance.backends.reference import Reference
from conformance.cases.dtypes import Array
from conformance.cases.program import Groups

Operation = Callable[..., list[Array]]
"""An operation with its attributes bound; it still takes ``blocks`` and, by keyword, ``groups``."""


class EveryOperation(Reference, ABC):
    """A reference whose operations all pass through ``around``."""

    @abstractmethod
    def around(self, operation: Operation, blocks: list[Array], groups: Groups) -> list[Array]:
        """Return what ``operation`` would, or something else."""

    def __getattr__(self, name: str) -> Any:
        """Return the operation called ``name``, wrapped."""
        operation = super().__getattr__(name)

        def wrapped(blocks: list[Array], *, groups: Groups, **attrs: Any) -> list[Array]:
            return self.around(partial(operation, **attrs), blocks, groups)

        return wrapped
