"""What a mutant changes, and the unbroken class that it changes it in."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Sequence
from typing import Final

from conformance.backends.base import Backend
from conformance.backends.reference import Reference
from conformance.qualification.mutant_module import MutantError
from conformance.specs import OPS

ABOUT: Final = frozenset(
    {
        "breaks",
        "corpus",
        "outcome",
        "ops",
        "name",
        "describe",
        "claims",
        "guarantees",
        "follows",
        "number_model",
        "kind",
    }
)
"""What a mutant may say of itself without doing anything differently."""


PROGRAMS: Final = "spmd"
SCHEDULES: Final = "schedule"

METHODS: Final = {
    "graph": ("run_graph",),
    "global": ("run_sharded",),
    "types": ("typed", "lowered", "compiled", "batched", "pullback", "pushforward"),
    SCHEDULES: ("schedule",),
}
"""Of each dialect but that of programs the methods of which a backend that is judged by its cases has its own."""


def control_of(mutant: type[Backend], mutants: Collection[type[Backend]] = ()) -> type[Backend] | None:
    """Return the most basic backend that works among those a mutant derives from, ``None`` where ``Backend`` is all."""
    found: list[type[Backend]] = [
        base
        for base in mutant.__mro__[1:]
        if issubclass(base, Backend) and base is not Backend and base not in mutants and not inspect.isabstract(base)
    ]
    return found[-1] if found else None


def dialects_of(changed: type[Backend]) -> tuple[str, ...]:
    """Return the dialects whose cases show what a mutant or a variant does otherwise."""
    base = control_of(changed) or Backend
    own = [name for name, methods in METHODS.items() if any(_other(changed, base, method) for method in methods)]
    # What schedules is judged by that alone.
    return (SCHEDULES,) if SCHEDULES in own else tuple(own) or (PROGRAMS,)


def _other(changed: type[Backend], base: type[Backend], method: str) -> bool:
    return getattr(changed, method, None) is not getattr(base, method, None)


def unchanged(changed: type[Backend], dialect: str, mutants: Collection[type[Backend]] = ()) -> type[Backend]:
    """Return the class that a mutant or a variant is held against: of schedules the nearest that works among its own.

    Of other dialects it is the most basic one, and the reference where there is none.
    """
    nearest = (
        base
        for base in changed.__mro__[1:]
        if issubclass(base, Backend) and base not in mutants and not inspect.isabstract(base)
    )
    return next(nearest, Reference) if dialect == SCHEDULES else control_of(changed, mutants) or Reference


def operations_of(mutant: type[Backend], mutants: Sequence[type[Backend]] = ()) -> tuple[str, ...]:
    """Return the operations a mutant changes: its ``ops``, else those it has methods for, else all.

    Raise ``MutantError`` when it changes nothing at all.
    """
    control = control_of(mutant, mutants) or Backend
    bases = mutant.__mro__[: mutant.__mro__.index(control)]
    own = {name for base in bases for name in vars(base) if name == "__getattr__" or not name.startswith("__")} - ABOUT
    own.discard("_abc_impl")
    if not own:
        raise MutantError(f"mutant {mutant.__qualname__} changes nothing: it overrides no operation and no execute")
    listed = tuple(getattr(mutant, "ops", None) or (sorted(own) if own <= OPS.keys() else OPS))
    unknown = [op for op in listed if op not in OPS]
    if unknown:
        raise MutantError(f"mutant {mutant.__qualname__} names the operation {unknown[0]!r}, which there is not")
    return listed
