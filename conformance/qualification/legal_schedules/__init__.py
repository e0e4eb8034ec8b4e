"""Right engines that schedule unusually: what none of them does may break a *must*.

Each changes what a plain engine makes of a graph (``plain``), a kernel for every value, in one way. Programs are
scheduled as the native engine does. The docstring says who schedules so.
"""

from __future__ import annotations

import sys

from conformance.backends.base import Backend
from conformance.qualification.mutants import backends_in


def legal_schedules() -> tuple[type[Backend], ...]:
    """Return every right engine of this package, by module and in the order of definition."""
    return backends_in(sys.modules[__name__])
