"""The rules of types that JAX 0.10.2 has where this specification has others, and what each is called.

A class is a way in which JAX's verdict on a program differs from the checker's: the clauses that it is about, its
source, and the rules that make the checker say what JAX says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_program import LOCAL, TypedProgram, TypedStep
from conformance.reference.types.check import Own, Typed, by_rule, check
from conformance.reference.types.ill_typed import IllTyped
from conformance.reference.types.local import taken


class Difference(NamedTuple):
    """A class of programs on which JAX says something else: its sentence, the clauses, the source and the rules.

    It is ``prescribed`` where this specification departs from its source on purpose: by the source's rule a value is
    invariant whose blocks differ, or nobody is told who waits for the wrong operation.
    """

    text: str
    clauses: tuple[str, ...]
    source: str
    own: Mapping[str, Own]
    prescribed: bool = False


def _forgetful(program: TypedProgram, step: TypedStep, operands: list[AxisType]) -> Typed:
    """Where only some axes are mapped the result of a local operation varies where an operand does, and no more."""
    if not program.checked or set(program.names) == {axis.name for axis in program.mesh}:
        return by_rule(program, step, operands)
    as_taken = taken(step.op, operands, automatic=program.automatic)
    return Typed(as_taken, AxisType(varying=as_taken[0].varying))


def _forgetful_mean(program: TypedProgram, step: TypedStep, operands: list[AxisType]) -> Typed:
    """Where only some axes are mapped the quotient of a mean forgets what its sum is along the others."""
    partly = set(program.names) != {axis.name for axis in program.mesh}
    if not program.checked or not partly or step.attrs["op"] != "mean":
        return by_rule(program, step, operands)
    found = by_rule(program, replace(step, attrs={**step.attrs, "op": "sum"}), operands)
    return Typed(found.operands, AxisType(varying=found.result.varying))


def _as_output(program: TypedProgram, step: TypedStep, operands: list[AxisType]) -> Typed:
    """The result of a ragged_all_to_all has the type of the operand that it is written into."""
    return Typed(operands, operands[1]) if program.checked else by_rule(program, step, operands)


def _of_groups(program: TypedProgram, step: TypedStep, operands: list[AxisType]) -> Typed:
    """A maximum or minimum over groups is invariant, as one over all members is."""
    extreme = program.checked and step.attrs["op"] in ("max", "min")
    return by_rule(program, replace(step, groups=None) if extreme else step, operands)


def _no_untiled(program: TypedProgram, step: TypedStep, operands: list[AxisType]) -> Typed:
    """An all_to_all that is not tiled cannot be started."""
    if step.start and not step.attrs["tiled"]:
        raise IllTyped("starts.C8", "what is started has no shape")
    return by_rule(program, step, operands)


def _no_mean(program: TypedProgram, step: TypedStep, operands: list[AxisType]) -> Typed:
    """A mean over a local axis is refused."""
    if step.attrs["op"] == "mean" and step.attrs.get("local_axes"):
        raise IllTyped("types.C16", "a mean is over names")
    return by_rule(program, step, operands)


DIFFERENCES: Final[Mapping[str, Difference]] = {
    "forgets pending states": Difference(
        "In a context with only some axes mapped JAX forgets in a local operation, and in the quotient of a mean, that "
        "an operand is unreduced or reduced.",
        ("types.C3", "types.C5", "types.C7", "types.C8", "types.C9", "types.C10", "types.C12"),
        "jax.local",
        {**dict.fromkeys(LOCAL, _forgetful), "all_reduce": _forgetful_mean},
        prescribed=True,
    ),
    "ragged as output": Difference(
        "JAX's ragged_all_to_all has the type of its output operand, along its axes too.",
        ("types.C11", "types.C12", "types.C13"),
        "jax.ragged_all_to_all",
        {"ragged_all_to_all": _as_output},
        prescribed=True,
    ),
    "extremes of groups": Difference(
        "JAX accepts a maximum and a minimum over groups, and types them invariant.",
        ("types.C15",),
        "jax.pmax",
        {"all_reduce": _of_groups},
        prescribed=True,
    ),
    "means": Difference(
        "JAX refuses a mean over a local axis.",
        ("types.C11",),
        "jax.pmean",
        {"all_reduce": _no_mean},
    ),
    "untiled exchange": Difference(
        "JAX cannot start an all_to_all that is not tiled: it squeezes what is only started.",
        ("types.C11",),
        "jax.start: all_to_all_start",
        {"all_to_all": _no_untiled},
    ),
}
"""Every class of difference by name."""


def verdict(program: TypedProgram, own: Mapping[str, Own]) -> dict[str, AxisType] | None:
    """Return the type of every value by the checker with other rules, or ``None`` where it refuses the program."""
    try:
        return check(program, own)
    except IllTyped:
        return None


def together(*names: str) -> dict[str, Own]:
    """Return the rules of several classes as one set, those of each operation one inside the other."""
    found: dict[str, Own] = {}
    for name in names or DIFFERENCES:
        for op, rule in DIFFERENCES[name].own.items():
            found[op] = _either(found[op], rule) if op in found else rule
    return found


def _either(first: Own, second: Own) -> Own:
    """Return the rule of both: the outcome of the first where that is not this checker's, else that of the second."""

    def rule(program: TypedProgram, step: TypedStep, operands: list[AxisType]) -> Typed:
        one = _outcome(first, program, step, operands)
        other = _outcome(second, program, step, operands)
        mine = _outcome(by_rule, program, step, operands)
        found = other if one == mine else one
        if isinstance(found, str):
            raise IllTyped(found, "as JAX has it")
        return found

    return rule


def _outcome(rule: Callable[..., Any], *given: Any) -> Typed | str:
    try:
        return rule(*given)  # type: ignore[no-any-return]  # the types of a step
    except IllTyped as error:
        return error.clause
