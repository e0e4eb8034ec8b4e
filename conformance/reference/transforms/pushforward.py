"""The pushforward of a typed program: from tangents of its inputs to those of its values."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.typed_program import TypedProgram, TypedStep
from conformance.reference.transforms.no_rule import NoRule, NotLinear
from conformance.reference.types.check import check
from conformance.reference.types.values import evaluate, step_blocks

Blocks = list[Array]


def pushforward(
    program: TypedProgram, inputs: Mapping[str, Blocks], tangents: Mapping[str, Blocks]
) -> dict[str, Blocks]:
    """Return the tangent of every value, which has the type of the value.

    What is linear does with tangents what it does with values; a product follows the rule of products, and an index
    does not change. Raise ``IllTyped`` for an ill-typed program and ``NoRule`` for a maximum, a minimum or a start.
    """
    check(program)
    values, found = evaluate(program, inputs), dict(tangents)
    for step in program.steps:
        found[step.output] = tangent(program, step, values, found)
    return found


def tangent(
    program: TypedProgram, step: TypedStep, values: Mapping[str, Blocks], tangents: Mapping[str, Blocks]
) -> Blocks:
    """Return the tangent of what one step makes."""
    if step.start:
        raise NoRule(f"a started {step.op} has no rule for tangents")
    if step.op == "maximum" or step.attrs.get("op") in ("max", "min"):
        raise NotLinear(f"{step.op} is not linear")
    if step.op == "axis_index":
        return [np.zeros_like(block) for block in values[step.output]]
    if step.op == "multiply":
        left, right = step.inputs
        rows = zip(values[left], values[right], tangents[left], tangents[right], strict=True)
        return [a * db + da * b for a, b, da, db in rows]
    return step_blocks(program.mesh, step, [tangents[name] for name in step.inputs])
