"""Whether a sandbox works here, which only a process in one shows."""

from __future__ import annotations

import time
from typing import Final

from conformance.runner.worker.process import Process, ending
from conformance.runner.worker.sandbox import MISSING, available

_STATUS: Final = 42
"""What the process in the sandbox ends with, and nothing that fails does."""

_SECONDS: Final = 20.0


def why_no_sandbox() -> str:
    """Return why no worker can be in a sandbox here, or ``""``."""
    if not available():
        return MISSING
    try:
        process = Process(["/bin/sh", "-c", f"exit {_STATUS}"], sandboxed=True)
    except OSError as error:
        return str(error)
    deadline = time.monotonic() + _SECONDS
    while (status := process.exit_status()) is None and time.monotonic() < deadline:
        time.sleep(0.005)
    said = process.kill()
    if status == _STATUS:
        return ""
    how = f"a process in it did not end within {_SECONDS:g} s" if status is None else f"bwrap {ending(status)}"
    return (
        f"{said.splitlines()[-1] if said else how}; the kernel has to let this user make namespaces (sysctl "
        "user.max_user_namespaces, kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)"
    )
