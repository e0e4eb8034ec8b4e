"""Dies on the third case of its life, whatever it is."""

from __future__ import annotations

import os

from conformance.backends.reference import Reference
from conformance.cases.case import Case
from conformance.cases.observation import Observation


class Bad(Reference):
    served = 0

    def execute(self, case: Case) -> Observation:
        self.served += 1
        if self.served == 3:
            os.abort()
        return super().execute(case)
