"""Holds on to a gibibyte."""

from __future__ import annotations

import time

import numpy as np
from trigger import Trigger

from conformance.cases.case import Case
from conformance.cases.observation import Observation


class Bad(Trigger):
    def _misbehave(self, case: Case) -> Observation:
        self.held = np.ones(1 << 30, np.uint8)
        time.sleep(3600)
        return super().execute(case)
