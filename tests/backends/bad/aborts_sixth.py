"""Aborts at every sixth case of a process."""

from __future__ import annotations

import os

from conformance.backends.reference import Reference
from conformance.cases.case import Case
from conformance.cases.observation import Observation


class Bad(Reference):
    calls = 0

    def execute(self, case: Case) -> Observation:
        self.calls += 1
        if self.calls == 6:
            os.abort()
        return super().execute(case)
