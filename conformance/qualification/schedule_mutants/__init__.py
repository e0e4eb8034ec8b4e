"""Engines that schedule wrongly on purpose, so that the clauses about schedules are judged by more than examples.

A mutant is the native engine, which here schedules without a device, and one mistake in what it made. ``breaks`` is the
clause it was made for and ``corpus`` the public bug reports it stands for. Its docstring says which real mistake it is.
"""

from __future__ import annotations

import sys

from conformance.backends.base import Backend
from conformance.qualification.mutants import backends_in


def schedule_mutants() -> tuple[type[Backend], ...]:
    """Return every mutant of this package, by module and in the order of definition."""
    return backends_in(sys.modules[__name__])
