"""The oracle behind the worker, judged like any other, and the base of every broken backend."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from conformance.backends.base import Backend, Claims, Placed, tensors
from conformance.cases.case import Case
from conformance.cases.tensor import Tensor
from conformance.reference.spmd import OPERATIONS, run


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

    def _walk(self, case: Case, placed: Placed) -> dict[str, tuple[Tensor | None, ...]]:
        """Run the program by this backend's methods, with every check of the oracle."""
        values = {name: [view for _, view in ranks] for name, ranks in placed.items()}
        operations = {name: getattr(self, name) for name in OPERATIONS}
        return tensors(run(case.program, values, operations))

    def __getattr__(self, name: str) -> Any:
        """Return the reference function called ``name``."""
        if name in OPERATIONS:
            return OPERATIONS[name]
        raise AttributeError(name)
