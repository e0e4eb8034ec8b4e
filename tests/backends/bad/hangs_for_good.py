"""Never answers and ignores SIGTERM."""

from __future__ import annotations

import signal
import time

from trigger import Trigger

from conformance.cases.case import Case
from conformance.cases.observation import Observation


class Bad(Trigger):
    def _misbehave(self, case: Case) -> Observation:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            time.sleep(3600)
