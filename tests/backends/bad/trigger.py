"""A backend that is right except for one case, the one whose first block starts with the byte 42."""

from __future__ import annotations

from conformance.backends.reference import Reference
from conformance.cases.case import Case
from conformance.cases.observation import Observation


class Trigger(Reference):
    def execute(self, case: Case) -> Observation:
        if case.inputs["x"].blocks[0].bits.startswith("42"):
            return self._misbehave(case)
        return super().execute(case)

    def _misbehave(self, case: Case) -> Observation:
        raise NotImplementedError
