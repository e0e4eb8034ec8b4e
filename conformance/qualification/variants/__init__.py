"""Right implementations that look unusual: no *must* may refuse one.

A variant is a backend that does what the specification says in another way than the reference or the native engine. Its
docstring says which real implementations do so, ``kind`` is what it varies (algorithm, number model, completion,
storage, schedule), and ``ops`` are the operations that show it where those are not its methods.
"""

from __future__ import annotations

import sys

from conformance.backends.base import Backend
from conformance.qualification.mutants import backends_in


def variants() -> tuple[type[Backend], ...]:
    """Return every variant of this package, by module and in the order of definition."""
    return backends_in(sys.modules[__name__])
