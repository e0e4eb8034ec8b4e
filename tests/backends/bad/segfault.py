"""Reads address 0."""

from __future__ import annotations

import ctypes

from trigger import Trigger

from conformance.cases.case import Case
from conformance.cases.observation import Observation


class Bad(Trigger):
    def _misbehave(self, case: Case) -> Observation:
        ctypes.string_at(0)
        return super().execute(case)
