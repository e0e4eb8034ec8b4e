"""Right implementations that look unusual: no *must* may refuse one.

A variant is a backend that does what the specification says in another way than the reference or the native engine. Its
docstring says which real implementations do so, ``kind`` is what it varies (algorithm, number model, completion,
storage, left open, transforms, types, tensors, schedule), and ``ops`` are the operations that show it where those are
not its methods.
"""

from __future__ import annotations

import sys

from conformance.backends.base import Backend
from conformance.qualification.legal_schedules import legal_schedules
from conformance.qualification.mutants import backends_in


def variants() -> tuple[type[Backend], ...]:
    """Return every variant of this package, by module and in the order of definition, and the right engines."""
    return (*backends_in(sys.modules[__name__]), *legal_schedules())
