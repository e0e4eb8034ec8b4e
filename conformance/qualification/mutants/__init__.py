"""Backends that are broken on purpose, so that the suite itself is judged.

A mutant is a small subclass of a correct backend. ``breaks`` is the clause it was made for, ``corpus`` the public
bug reports it stands for, ``outcome`` what the suite should call it where that is not ``failed``, and ``ops`` the
operations that show it where those are not its methods. Its docstring says which real mistake it is.
"""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from conformance.backends.base import Backend


def mutants() -> tuple[type[Backend], ...]:
    """Return every mutant of this package, by module and in the order of definition."""
    return backends_in(sys.modules[__name__])


def backends_in(module: ModuleType) -> tuple[type[Backend], ...]:
    """Return the public, concrete backends that ``module`` defines, or, for a package, that it and its modules do.

    Modules of a package are imported; whatever that raises is passed on.
    """
    children = iter_modules(getattr(module, "__path__", ()))
    modules = [module, *(import_module(f"{module.__name__}.{child.name}") for child in children)]
    return tuple(
        value
        for place in modules
        for name, value in vars(place).items()
        if isinstance(value, type)
        and issubclass(value, Backend)
        and value.__module__ == place.__name__
        and not name.startswith("_")
        and not inspect.isabstract(value)
    )
