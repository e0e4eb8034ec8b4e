"""Names for memory that lasts from one run of a program to the next."""

from __future__ import annotations

import hashlib
from dataclasses import asdict

import msgspec

from conformance.backends.opencl.settings import Settings


def lasting(*compiled: object) -> str:
    """Return what the names of a program's allocations begin with: the same for the same program, in every process.

    ``compiled`` is all that the plan of the program depends on. Names made of it need no counter, nor anything random
    that a program could set.
    """
    told = [asdict(each) if isinstance(each, Settings) else each for each in compiled]
    return f"pool {hashlib.sha256(msgspec.json.encode(told, order='deterministic')).hexdigest()[:16]} block "
