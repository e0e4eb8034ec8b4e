"""A family's modules once more, beside the real ones and with one change in them."""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import CodeType, ModuleType
from typing import TypeVar

from conformance.backends.base import Backend
from conformance.qualification.auto.source.changes import CAME, Change, announcing_tree, changed_tree

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Family:
    """Code whose changes are mutants: ``packages`` are imported anew for ``backend``, the class that is judged.

    Of them the modules in ``changed`` are changed, all but the functions in ``but`` (``module.function``); those in
    ``in_c`` hold OpenCL C text. Each of its processes gets ``environment``, changes of some modules with what
    ``apart`` says of them, ``cpu`` seconds of the processor for a case, and ``memory`` bytes of address space, if they
    are limited; it runs ``batch`` mutants, one after the other, or surveys ``piece`` cases at most. ``opened`` are the
    attributes of an instance that import modules when they are first asked for. Without ``tables`` only functions are
    changed.
    """

    name: str
    packages: tuple[str, ...]
    backend: str
    changed: tuple[str, ...]
    but: frozenset[str] = frozenset()
    in_c: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    apart: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    cpu: float = 30.0
    memory: int | None = None
    batch: int = 1
    piece: int = 2_000
    opened: tuple[str, ...] = ()
    plans: bool = False
    tables: bool = True


class _Changed(Loader):
    """Executes a module from a changed tree."""

    def __init__(self, code: CodeType, came: Callable[..., None]) -> None:
        self.code, self.came = code, came

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        vars(module)[CAME] = self.came
        exec(self.code, vars(module))  # noqa: S102 - what every loader does


class _Finder(MetaPathFinder):
    """Finds changed modules, by name, and leaves all others to be found as ever."""

    def __init__(self, codes: Mapping[str, CodeType], came: Callable[..., None]) -> None:
        self.codes, self.came = codes, came

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname not in self.codes:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None:
            spec.loader = _Changed(self.codes[fullname], self.came)
        return spec


def source_of(module: str) -> str:
    """Return the source of a module, which need not have been imported."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text(encoding="utf-8")


def changed_backend(family: Family, change: Change | None) -> type[Backend]:
    """Return the family's backend, made of its modules imported anew, one of them with ``change``.

    Its ``applied`` is a set that is empty until the change is come to. The real modules are as they were afterwards.
    Raise whatever the changed code raises when it is imported.
    """
    apart = family.apart.get(change.module, {}) if change is not None else {}
    os.environ.update({**family.environment, **apart})
    # What the import alone executes is come to by every case.
    came = set[int]() if change is not None and change.below else {0}
    finders = _finders(change, came)
    with _put_aside(family.packages):
        sys.meta_path[:0] = finders
        try:
            module, _, name = family.backend.partition(":")
            made = getattr(importlib.import_module(module), name)
            if family.opened:
                for each in family.changed:
                    importlib.import_module(each)
            table = {each: found for each, found in sys.modules.items() if _within(each, family.packages)}
        finally:
            for finder in finders:
                sys.meta_path.remove(finder)
    assert isinstance(made, type)
    made.applied = came  # type: ignore[attr-defined]  # a fault has it too, and no other backend
    return _opening(made, family, table) if family.opened else made


@contextmanager
def imported_with(family: Family, change: Change | None, make: Callable[[], T]) -> Iterator[tuple[T, set[int]]]:
    """Have what ``make`` imports of a family's modules, imported anew with a change, while they are those found.

    With it comes the set that is empty until the change is come to. Raise whatever the changed code raises then.
    """
    came = set[int]() if change is not None and change.below else {0}
    with _found_by(family, _finders(change, came)):
        yield make(), came


@contextmanager
def imported_announcing(
    family: Family, changes: Sequence[Change], make: Callable[[], T]
) -> Iterator[tuple[T, set[str]]]:
    """Have what ``make`` imports of a family's modules as they are, imported anew, while they are those found.

    With it comes the set that gets the digest of each of ``changes`` that is come to, of those in bodies of functions.
    """
    came: set[str] = set()
    modules: dict[str, list[Change]] = {}
    for change in changes:
        modules.setdefault(change.module, []).append(change)
    codes = {
        module: compile(announcing_tree(source_of(module), mine), f"<{module}, announcing>", "exec")
        for module, mine in modules.items()
    }
    with _found_by(family, [_Finder(codes, came.add)]):
        yield make(), came


@contextmanager
def _found_by(family: Family, finders: list[_Finder]) -> Iterator[None]:
    with _put_aside(family.packages):
        sys.meta_path[:0] = finders
        try:
            yield
        finally:
            for finder in finders:
                sys.meta_path.remove(finder)


def _finders(change: Change | None, came: set[int]) -> list[_Finder]:
    return [] if change is None else [_Finder({change.module: _compiled(change)}, partial(came.add, 0))]


def _opening(made: type[Backend], family: Family, table: Mapping[str, ModuleType]) -> type[Backend]:
    """Return a backend that asks for what it imports late while its own modules are those that are found."""

    def start(self: Backend) -> None:
        with _put_aside(family.packages):
            sys.modules.update(table)
            made.__init__(self)
            for name in family.opened:
                getattr(self, name)

    return type(made.__name__, (made,), {"__init__": start, "__module__": made.__module__})


def _compiled(change: Change) -> CodeType:
    tree: ast.Module = changed_tree(source_of(change.module), change)
    return compile(tree, f"<{change.module}, changed>", "exec")


@contextmanager
def _put_aside(packages: Sequence[str]) -> Iterator[None]:
    """Take modules off the table of what is imported, and put them back."""
    real = {name: module for name, module in sys.modules.items() if _within(name, packages)}
    parents = {name: name.rpartition(".") for name in packages}
    held = {name: getattr(sys.modules.get(parent), child, None) for name, (parent, _, child) in parents.items()}
    for name in real:
        del sys.modules[name]
    try:
        yield
    finally:
        for name in [name for name in sys.modules if _within(name, packages)]:
            del sys.modules[name]
        sys.modules.update(real)
        for name, (parent, _, child) in parents.items():
            if held[name] is not None:
                setattr(sys.modules[parent], child, held[name])


def _within(name: str, packages: Sequence[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)
