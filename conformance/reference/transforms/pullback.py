"""The pullback of a typed program: from cotangents of its results to those of its inputs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from conformance.cases.program.program import rank_groups
from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.typed_program import LOCAL, TypedProgram
from conformance.reference.transforms.transposes import TRANSPOSES, Act, Rule
from conformance.reference.types.check import paired_types, written_out
from conformance.reference.types.values import evaluate

Blocks = list[Array]


def pullback(
    program: TypedProgram,
    inputs: Mapping[str, Blocks],
    cotangents: Mapping[str, Blocks],
    rules: Mapping[str, Rule] = TRANSPOSES,
) -> dict[str, Blocks]:
    """Return the cotangent of every input: the transposes of the steps in reverse order, automatic casts included.

    ``rules`` has the transpose of each operation. ``cotangents`` has one for each result, of the type that
    ``pairing.cotangent_type`` gives it. Raise ``IllTyped`` for an ill-typed program and ``NoRule`` where a cotangent
    meets a step that has no transpose.
    """
    whole = written_out(program) if program.checked else program
    types, values = paired_types(whole), evaluate(whole, inputs)
    found: dict[str, Blocks] = {}
    for name, blocks in cotangents.items():
        _add(found, name, blocks)
    for step in reversed(whole.steps):
        given = found.pop(step.output, None)
        if given is None or not step.inputs:
            continue
        act = Act(
            step,
            tuple(types[name] for name in step.inputs),
            tuple(values[name] for name in step.inputs),
            rank_groups(program.mesh, step.axes, step.groups),
            checked=program.checked,
        )
        for name, blocks in zip(step.inputs, _transposed(act, given, rules), strict=True):
            _add(found, name, blocks)
    return {name: found.get(name) or [np.zeros_like(block) for block in inputs[name]] for name in program.inputs}


def _transposed(act: Act, given: Blocks, rules: Mapping[str, Rule]) -> list[Blocks]:
    """A collective over no axis is the last of its operands, and its transpose gives the others nothing."""
    meets = act.step.op in LOCAL or act.step.op == "done" or act.step.axes or act.step.attrs.get("local_axes")
    if meets:
        return rules[act.step.op](act, given)
    return [*([np.zeros_like(block) for block in operand] for operand in act.operands[:-1]), given]


def _add(found: dict[str, Blocks], name: str, blocks: Blocks) -> None:
    known = found.get(name)
    found[name] = blocks if known is None else [a + b for a, b in zip(known, blocks, strict=True)]
