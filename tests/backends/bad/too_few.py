"""Answers for one rank less than there are."""

from __future__ import annotations

import msgspec
from trigger import Trigger

from conformance.cases.case import Case
from conformance.cases.observation import Observation


class Bad(Trigger):
    def _misbehave(self, case: Case) -> Observation:
        right = super(Trigger, self).execute(case)
        return msgspec.structs.replace(right, results={name: ranks[1:] for name, ranks in right.results.items()})
