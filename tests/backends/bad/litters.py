"""Leaves processes behind, one of them in a session of its own, then dies; their ids are in the file LITTER names."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from trigger import Trigger

from conformance.cases.case import Case
from conformance.cases.observation import Observation


class Bad(Trigger):
    def _misbehave(self, case: Case) -> Observation:
        left = [subprocess.Popen(["sleep", "3600"], start_new_session=detached) for detached in (False, True)]
        if forked := os.fork():
            with Path(os.environ["LITTER"]).open("a") as file:
                file.write("".join(f"{pid}\n" for pid in [forked, *(process.pid for process in left)]))
            time.sleep(0.6)
            os.abort()
        time.sleep(3600)
        raise SystemExit
