"""A backend that ends its process whenever it is asked about cases together; alone each is right."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from conformance.backends.reference import Reference
from conformance.cases.case import Case
from conformance.cases.observation import Observation


class Bad(Reference):
    """Bears no company."""

    @property
    def together(self) -> Mapping[str, int]:
        """Return that it takes eight."""
        return {"programs": 8}

    def execute_together(self, cases: Sequence[Case]) -> Sequence[Observation]:
        """End the process."""
        os._exit(3)
