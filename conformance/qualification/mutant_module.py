"""Where mutants come from: an importable module or package, or a Python file, that is not ours."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final

from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec
from conformance.qualification.mutants import backends_in


class MutantError(ValueError):
    """Mutants that cannot be had or that prove nothing; the message says which, and what would be right."""


class NotReached(MutantError):
    """A mutant that did what is right on all cases: none of them has what it changes, a hole of the domain."""


_START: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from conformance.backends.worker import main; sys.exit(main(sys.argv[2]))"
)
"""A worker that also finds modules in the folder that is its first argument."""


def load_mutants(target: str) -> tuple[type[Backend], ...]:
    """Return the public backends that ``target`` defines: a module, a package with all its modules, or a ``.py`` file.

    Raise ``MutantError`` when it does not exist, does not import, or defines no backend.
    """
    try:
        module = _file(Path(target)) if target.endswith(".py") else _module(target)
        found = backends_in(module)
    except MutantError:
        raise
    # A module may end the process as it is imported; that must not look like the end of a good run.
    except (Exception, SystemExit) as error:
        problem = " ".join(f"{type(error).__name__}: {error}".split())
        raise MutantError(f"mutants module {target!r} does not import: {problem}") from error
    if not found:
        raise MutantError(
            f"mutants module {target!r} defines no backend; a mutant is a subclass of "
            "conformance.backends.base.Backend whose name does not begin with an underscore"
        )
    return found


def spec_of(mutant: type[Backend]) -> BackendSpec:
    """Return how to run ``mutant`` in a process of its own.

    Raise ``MutantError`` when another process cannot import it: it is local to a function, or has no file.
    """
    module, name = mutant.__module__, mutant.__qualname__
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or "<locals>" in name:
        raise MutantError(f"mutant {name} must be defined at the top of a module to run in a process of its own")
    path = Path(file).resolve()
    root = path.parents[module.count(".") + (path.name == "__init__.py")]
    target = f"{module}:{name}"
    return BackendSpec(name, (sys.executable, "-c", _START, str(root), target), target)


def _module(name: str) -> ModuleType:
    top = name.partition(".")[0]
    if not all(part.isidentifier() for part in name.split(".")):
        raise MutantError(f"{name!r} names no mutants: a module, as in package.module, or a path to a .py file would")
    if find_spec(top) is None:
        # The command's own folder is not on the search path, but a vendor's module there counts as found.
        here = str(Path.cwd())
        if PathFinder.find_spec(top, [here]) is None:
            raise MutantError(f"no mutants module {name!r}: {top!r} is neither in {here} nor on the search path")
        sys.path.append(here)
    return import_module(name)


def _file(path: Path) -> ModuleType:
    name, where = path.stem, os.fspath(path)
    if not path.is_file():
        raise MutantError(f"no mutants file {where!r}")
    if not name.isidentifier():
        raise MutantError(f"mutants file {where!r} must have the name of a module: letters, digits and underscores")
    known = sys.modules.get(name)
    if known is not None:
        if Path(getattr(known, "__file__", None) or os.devnull).resolve() == path.resolve():
            return known
        raise MutantError(f"mutants file {where!r} has the name of another module, {name!r}; give it one of its own")
    spec = spec_from_file_location(name, path.resolve())
    assert spec is not None
    assert spec.loader is not None
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
