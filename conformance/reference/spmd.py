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

Operation = Callable[..., Any]


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


def _parameters(operation: Operation) -> list[inspect.Parameter]:
    return list(inspect.signature(operation).parameters.values())


def _attributes(operation: Operation) -> dict[str, Any]:
    hints = get_type_hints(operation)
    return {p.name: hints[p.name] for p in _parameters(operation) if p.kind is p.KEYWORD_ONLY and p.name != "groups"}


ATTRIBUTES: Final = {name: _attributes(operation) for name, operation in OPERATIONS.items()}
"""The attribute names and types of each operation, read off its reference function."""

DEFAULTS: Final = {
    name: {p.name: p.default for p in _parameters(operation) if p.default is not p.empty}
    for name, operation in OPERATIONS.items()
}
"""The attributes a step may leave out, and what they are then."""

OPERANDS: Final = {
    name: sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in _parameters(operation)) for name, operation in OPERATIONS.items()
}
"""How many values an operation takes. One that takes one is mapped over as many as a step names."""


def check_step(step: Step) -> dict[str, Attr]:
    """Return the attributes of ``step`` in their declared types, with defaults filled in.

    Raise ``ValueError`` when the step is malformed: no such operation, the wrong number of values, or
    attributes that are missing, surplus or of the wrong type. A malformed step has no verdict; an illegal
    one is rejected by its clause.
    """
    if step.op not in OPERATIONS:
        raise ValueError(f"unknown operation {step.op!r}; known are {', '.join(sorted(OPERATIONS))}")
    wanted, defaults = ATTRIBUTES[step.op], DEFAULTS[step.op]
    if not set(wanted) - set(defaults) <= set(step.attrs) <= set(wanted):
        raise ValueError(f"{step.op} takes the attributes {sorted(wanted)}, got {sorted(step.attrs)}")
    _check_arity(step)
    try:
        return defaults | {name: msgspec.convert(value, wanted[name]) for name, value in step.attrs.items()}
    except msgspec.ValidationError as error:
        raise ValueError(f"{step.op} has an attribute of the wrong type: {error}") from None


def _check_arity(step: Step) -> None:
    operands, outputs = OPERANDS[step.op], 0 if step.op == "barrier" else 1
    right = len(step.inputs) == len(step.outputs) if operands == 1 else len(step.inputs) == operands
    if not right or (operands != 1 and len(step.outputs) != outputs):
        raise ValueError(f"{step.op} takes {operands} values a result, got {len(step.inputs)} and {len(step.outputs)}")


def evaluate(case: Case) -> dict[str, list[Array | None]]:
    """Return the blocks, one for each rank, of every result of the program; ``None`` where a rank has none.

    Raise ``Rejected`` when a step breaks a clause, ``ValueError`` when the program is malformed.
    """
    values: dict[str, Any] = dict(case.blocks())
    for step in case.program.steps:
        attrs = check_step(step)
        groups = rank_groups(case.program.mesh, step.axes, step.groups)
        if OPERANDS[step.op] != 1:
            result = OPERATIONS[step.op](*(values[name] for name in step.inputs), **attrs, groups=groups)
            values.update(zip(step.outputs, [result], strict=False))
            continue
        for source, target in zip(step.inputs, step.outputs, strict=True):
            values[target] = OPERATIONS[step.op](values[source], **attrs, groups=groups)
    return {name: values[name] for name in case.program.results}
