"""The clauses about operations of typed programs that are started and waited for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.starts import start_of
from conformance.cases.types.typed_program import TypedStep
from conformance.judging.clause import Requirement
from conformance.judging.typed import TypedClause, TypedDivergence
from conformance.judging.typed_comparisons import (
    as_first_done,
    refused,
    typed_alike,
    typed_and_valued_alike,
    valued_alike,
)
from conformance.judging.typed_steps import Fits, OfSteps, about_steps
from conformance.reference.transforms.meaning import TypedMeaning


def name_of_start(step: TypedStep, operand: AxisType | None, result: AxisType | None, *, checked: bool) -> str:
    """Return the name of the start of a step with an operand and a result of these types.

    An invariant operand counts as the varying one that it is cast to. Without types, or where they are not known, the
    name is that of the operation alone.
    """
    if not checked or not step.axes or operand is None or result is None:
        return start_of(step.op, "", "")
    pending = operand.state(step.axes[0]) == "unreduced"
    return start_of(step.op, "unreduced" if pending else "varying", result.state(step.axes[0]))


def names_of_starts(meaning: TypedMeaning) -> Iterator[tuple[TypedStep, str]]:
    """Yield each step that is started, with the name of its start; of a refused program that without types."""
    program = meaning.case.program
    for step in program.steps:
        if step.start:
            types = [meaning.types.get(name) for name in (*step.inputs, step.output)]
            yield step, name_of_start(step, types[0], types[-1], checked=program.checked)


def _waits(meaning: TypedMeaning) -> list[str]:
    """Return what is waited for, in order."""
    return [step.inputs[0] for step in meaning.case.program.steps if step.op == "done"]


def _runs(meaning: TypedMeaning) -> bool:
    return meaning.refused is None and meaning.case.kind == "types" and bool(meaning.case.program.started)


def _never(meaning: TypedMeaning) -> bool:
    return _runs(meaning) and not set(meaning.case.program.started) <= set(_waits(meaning))


def _is(name: str) -> Fits:
    """Tell the dones of the starts of that name."""
    return lambda meaning, step: (
        step.op == "done" and any(each == name and own.output in step.inputs for own, each in names_of_starts(meaning))
    )


def _is_done(_: TypedMeaning, step: TypedStep) -> bool:
    return step.op == "done"


def _is_second(meaning: TypedMeaning, step: TypedStep) -> bool:
    """Tell the dones of what was waited for before."""
    waits = [each for each in meaning.case.program.steps if each.op == "done" and each.inputs == step.inputs]
    return step in waits[1:]


ONCE: Final = TypedDivergence(
    "jax",
    "JAX refuses a second done: it expects exactly one user of what is started.",
    lambda meaning, seen: seen.raised,
)


def _alike(id: str, text: str, source: str, fits: Fits) -> TypedClause:
    return about_steps(id, text, source, _runs, OfSteps(valued_alike, fits), suite="types")


def _rule(
    id: str,
    text: str,
    requirement: Requirement,
    *diverges: TypedDivergence,
    source: str = "jax.start: _done_abstract_eval",
) -> TypedClause:

    def breaks(meaning: TypedMeaning) -> bool:
        return meaning.refused is not None and meaning.refused.clause == id

    return TypedClause(id, requirement, text, source, breaks, refused, diverges=diverges)


def _no_rule(id: str, text: str, kind: str) -> TypedClause:
    def without(meaning: TypedMeaning) -> bool:
        return meaning.no_rule is not None and bool(meaning.case.program.started) and meaning.case.kind == kind

    return TypedClause(id, "may", text, "jax.start", without, refused, suite="transforms")


STARTS: Final = (
    _alike(
        "starts.C1",
        "A done returns the blocks that the started operation returns where it is not started.",
        "jax.start",
        _is_done,
    ),
    TypedClause(
        "starts.C2",
        "must",
        "With types, a started operation and its done have the type of the result that the operation has when it "
        "is not started.",
        "jax.start: _start_abstract_eval",
        lambda meaning: _runs(meaning) and meaning.case.program.checked,
        typed_alike,
    ),
    about_steps(
        "starts.C3",
        "With types, a started all_reduce that is a sum of a varying operand, or of one that is cast to varying, "
        "gives the sum, invariant along the mesh axes that it sums over.",
        "jax.start: psum_invariant_start_p",
        _runs,
        OfSteps(typed_and_valued_alike, _is("psum_invariant")),
        suite="types",
    ),
    _alike(
        "starts.C4",
        "A started all_reduce that is a sum of an unreduced operand adds the blocks of the ranks along the mesh "
        "axes that it names, and its done returns the sum on each of these ranks.",
        "jax.start: unreduced_psum_start_p",
        _is("unreduced_psum"),
    ),
    _alike(
        "starts.C5",
        "A started reduce_scatter of an unreduced operand adds the blocks of the ranks along the mesh axes that "
        "it names, and its done returns on each of these ranks the rank's own piece of the sum.",
        "jax.start: unreduced_reduce_scatter_start_p",
        _is("unreduced_reduce_scatter"),
    ),
    _alike(
        "starts.C6",
        'The done of a started all_gather with `to="reduced"` returns the blocks of the ranks along the mesh axes '
        "that the all_gather names, joined in member order along its axis.",
        "jax.start: all_gather_reduced_start_p",
        _is("all_gather_reduced"),
    ),
    TypedClause(
        "starts.C11",
        "must",
        "A program with a started operation that no step waits for is accepted, and all its results are those that it "
        "has without that operation.",
        "torch.inductor.comm_lowering: _all_reduce_",
        _never,
        valued_alike,
    ),
    about_steps(
        "starts.C7",
        "A second done of a started operation returns the same result as the first, bit for bit.",
        "torch.inductor.comm_lowering: _wait_tensor",
        _runs,
        OfSteps(as_first_done, _is_second),
        ONCE,
        suite="types",
    ),
    _rule("starts.C8", "A done whose operand is no started value is refused.", "must"),
    _rule(
        "starts.C9",
        "A done that names one operation, of a value that another operation started, is refused.",
        "should",
        source="ours",
    ),
    _rule(
        "starts.C14",
        "A start of an all_gather whose result is invariant is refused.",
        "should",
        source="jax.start: all_gather_start",
    ),
    _rule(
        "starts.C10",
        "Every operation except done refuses a started value as its operand, also after a done of that value. The "
        "value that the done returns is accepted.",
        "must",
    ),
)
"""The clauses of the suite ``types`` about starts, the most particular last."""

BACK: Final = (
    _no_rule(
        "starts.C12",
        "No transpose is defined of a program in which a cotangent comes back to a started operation or its done. "
        "Raising an error is right, and so is a transpose of the implementation's own.",
        "transposed",
    ),
)
"""Those of transposes."""

MAPPED: Final = (
    _no_rule(
        "starts.C13",
        "No meaning is defined of a program that starts an operation and is mapped over a level. Raising an error "
        "is right, and so is mapping it.",
        "batched",
    ),
)
"""Those of mapping."""
