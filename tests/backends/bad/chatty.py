"""Prints megabytes on standard output, and is right."""

from __future__ import annotations

import os
import sys

from trigger import Trigger

from conformance.cases.case import Case
from conformance.cases.observation import Observation


class Bad(Trigger):
    def _misbehave(self, case: Case) -> Observation:
        for _ in range(64):
            print('{"type": "done"}\\n' * 4096)
        sys.stdout.flush()
        os.write(1, b"x" * (1 << 20))
        return super(Trigger, self).execute(case)
