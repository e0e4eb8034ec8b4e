"""Lets an exception escape."""

from __future__ import annotations

from trigger import Trigger

from conformance.cases.case import Case
from conformance.cases.observation import Observation


class Bad(Trigger):
    def _misbehave(self, case: Case) -> Observation:
        raise RuntimeError("no such luck")
