"""The oracle behind the worker, judged like any other, and the base of every broken backend."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from conformance.backends.base import Backend, Claims
from conformance.reference.spmd import OPERATIONS


class Reference(Backend):
    """Runs each operation's reference function."""

    name = "reference"

    @property
    def claims(self) -> Claims:
        """Return every operation of the specification, without limits."""
        return {name: {} for name in OPERATIONS}

    def describe(self) -> dict[str, str]:
        """Return the NumPy that computes."""
        return {"numpy": version("numpy"), "ml_dtypes": version("ml_dtypes")}

    def __getattr__(self, name: str) -> Any:
        """Return the reference function called ``name``."""
        if name in OPERATIONS:
            return OPERATIONS[name]
        raise AttributeError(name)
