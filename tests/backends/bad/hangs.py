"""Never answers."""

from __future__ import annotations

import time

from trigger import Trigger

from conformance.cases.case import Case
from conformance.cases.observation import Observation


class Bad(Trigger):
    def _misbehave(self, case: Case) -> Observation:
        time.sleep(3600)
        return super().execute(case)
