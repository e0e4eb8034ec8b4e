"""What a mutant changes, and the unbroken class that it changes it in."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Sequence
from typing import Final

from conformance.backends.base import Backend
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


def control_of(mutant: type[Backend], mutants: Collection[type[Backend]] = ()) -> type[Backend] | None:
    """Return the most basic backend that works among those a mutant derives from, ``None`` where ``Backend`` is all."""
    found: list[type[Backend]] = [
        base
        for base in mutant.__mro__[1:]
        if issubclass(base, Backend) and base is not Backend and base not in mutants and not inspect.isabstract(base)
    ]
    return found[-1] if found else None


def schedules(mutant: type[Backend]) -> bool:
    """Return whether a mutant has a ``schedule`` of its own, by which it is judged: its control has not the same."""
    control = control_of(mutant) or Backend
    return mutant.schedule is not control.schedule


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
