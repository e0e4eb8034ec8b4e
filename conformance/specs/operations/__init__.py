"""The specification of every operation: one file each, with an ``OP``.

What an operation means is in ``reference.operations``, how it is drawn in ``generate.operations``.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from conformance.specs.op import Op

OPS: Final[dict[str, Op]] = {
    name: import_module(f"{__name__}.{name}").OP for name in sorted(module.name for module in iter_modules(__path__))
}
"""Every operation by name, which is that of its file."""
