"""Leaves in the middle of a case, with status 0."""

from __future__ import annotations

import os

from trigger import Trigger

from conformance.cases.case import Case
from conformance.cases.observation import Observation


class Bad(Trigger):
    def _misbehave(self, case: Case) -> Observation:
        os._exit(0)
