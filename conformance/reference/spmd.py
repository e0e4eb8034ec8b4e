"""The meaning of an ``spmd`` program: its steps, run eagerly in list order on every rank's blocks."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Final, get_type_hints

import msgspec

import conformance.reference as package
from conformance.cases.case import Case
from conformance.cases.dtypes import Array
from conformance.cases.program import Attr, Step, rank_groups

Operation = Callable[..., list[Array]]


def _operations() -> dict[str, Operation]:
    """Return every module of this package that defines a function of its own name."""
    found = {}
    for module in iter_modules(package.__path__):
        if module.name != "spmd":
            function = getattr(import_module(f"{package.__name__}.{module.name}"), module.name, None)
            if callable(function):
                found[module.name] = function
    return found


OPERATIONS: Final = _operations()


def _attributes(operation: Operation) -> dict[str, Any]:
    hints = get_type_hints(operation)
    parameters = inspect.signature(operation).parameters.values()
    return {p.name: hints[p.name] for p in parameters if p.kind is p.KEYWORD_ONLY and p.name != "groups"}


ATTRIBUTES: Final = {name: _attributes(operation) for name, operation in OPERATIONS.items()}
"""The attribute names and types of each operation, read off its reference function."""


def check_step(step: Step) -> dict[str, Attr]:
    """Return the attributes of ``step`` in their declared types.

    Raise ``ValueError`` when the step is malformed: no such operation, or attributes that are missing,
    surplus or of the wrong type. A malformed step has no verdict; an illegal one is rejected by its clause.
    """
    if step.op not in OPERATIONS:
        raise ValueError(f"unknown operation {step.op!r}; known are {', '.join(sorted(OPERATIONS))}")
    wanted = ATTRIBUTES[step.op]
    if set(step.attrs) != set(wanted):
        raise ValueError(f"{step.op} takes the attributes {sorted(wanted)}, got {sorted(step.attrs)}")
    try:
        return {name: msgspec.convert(value, wanted[name]) for name, value in step.attrs.items()}
    except msgspec.ValidationError as error:
        raise ValueError(f"{step.op} has an attribute of the wrong type: {error}") from None


def evaluate(case: Case) -> dict[str, list[Array]]:
    """Return the blocks, one for each rank, of every result of the program.

    Raise ``Rejected`` when a step breaks a clause, ``ValueError`` when the program is malformed.
    """
    values = case.blocks()
    mesh = case.program.mesh
    for step in case.program.steps:
        attrs = check_step(step)
        operation = OPERATIONS[step.op]
        groups = rank_groups(mesh, step.axes, step.groups)
        for source, target in zip(step.inputs, step.outputs, strict=True):
            values[target] = operation(values[source], **attrs, groups=groups)
    return {name: values[name] for name in case.program.results}
