"""What JAX says of typed programs where this specification says something else, each with a test of what was seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from msgspec.structs import replace

from conformance.cases.observation import Observation
from conformance.cases.program.program import Groups, lines
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_case import arrays
from conformance.cases.types.typed_program import TypedProgram, TypedStep
from conformance.judging.typed import TypedDivergence
from conformance.judging.typed_comparisons import mapped_alike, pulled_alike, valued_alike
from conformance.reference.rejection import Rejected
from conformance.reference.transforms.batching import batched
from conformance.reference.transforms.meaning import TypedMeaning
from conformance.reference.transforms.pullback import pullback
from conformance.reference.transforms.transposes import TRANSPOSES, Act, Blocks, own_piece
from conformance.reference.types.values import evaluate, tables
from conformance.specs.types.jax_rules import DIFFERENCES, together, verdict

Shown = Callable[[TypedMeaning, Observation], bool]
Rule = Callable[[Act, Blocks], list[Blocks]]


def by_rules(name: str) -> TypedDivergence:
    """Return the divergence of who has JAX's rules of a class: what was seen is what the checker says with them.

    Its values are what the steps make all the same, of a result that is unreduced by these rules their sum. Of one that
    is the same along an axis by these rules, and is not, any block may be shown.
    """
    difference = DIFFERENCES[name]

    def shown(meaning: TypedMeaning, seen: Observation) -> bool:
        program = meaning.case.program
        theirs = verdict(program, together(name))
        if theirs is None or seen.raised:
            return theirs is None and seen.raised
        if any(seen.types.get(step.output) != theirs[step.output] for step in program.steps):
            return False
        values = meaning.values or evaluate(program, arrays(meaning.case.inputs))
        told = tuple(name for name in program.results if _as_typed(program, theirs[name], values[name]))
        case = replace(meaning.case, program=replace(program, results=told))
        return valued_alike(TypedMeaning(case, theirs, values), seen) is None

    return TypedDivergence("jax", difference.text, shown)


def _as_typed(program: TypedProgram, of: AxisType, blocks: Blocks) -> bool:
    """Return whether blocks are the same along each axis along which a type says so."""
    same = [axis for axis in program.names if of.state(axis) in ("invariant", "reduced")]
    rows = [line for axis in same for line in lines(program.mesh, (axis,))]
    return all(len({blocks[rank].tobytes() for rank in line}) == 1 for line in rows)


def across(meaning: TypedMeaning, step: TypedStep) -> str:
    """Return what a step meets across: ``mesh`` axes, a ``level``, ``several`` levels, ``both`` or ``nothing``."""
    levels = {level.name for level in meaning.case.batch}
    if not step.axes:
        return "nothing"
    if not levels & set(step.axes):
        return "mesh"
    return "both" if set(step.axes) - levels else "several" if len(step.axes) > 1 else "level"


def _refused(*ops: str, where: tuple[str, ...] = ("both", "several")) -> Shown:
    def shown(meaning: TypedMeaning, seen: Observation) -> bool:
        return seen.raised and any(s.op in ops and across(meaning, s) in where for s in meaning.case.program.steps)

    return shown


def _partial(meaning: TypedMeaning, step: TypedStep) -> bool:
    sizes = {level.name: level.size for level in meaning.case.batch}
    pairs = step.attrs.get("pairs")
    return across(meaning, step) == "level" and isinstance(pairs, tuple) and len(pairs) < sizes[step.axes[0]]


def _fewer_axes(*ops: str, innermost: bool) -> Shown:
    """Return whether what was seen is what a program gives whose steps of ``ops`` name the ``innermost`` level alone.

    Or else the axes of the mesh alone.
    """

    def shown(meaning: TypedMeaning, seen: Observation) -> bool:
        case = meaning.case
        names = [level.name for level in reversed(case.batch)]

        def fewer(step: TypedStep) -> TypedStep:
            named = [name for name in names if name in step.axes]
            if step.op not in ops or len(step.axes) < 2 or not named:
                return step
            axes = tuple(named[:1]) if innermost else tuple(axis for axis in step.axes if axis not in named)
            return replace(step, axes=axes or (step.axes[-1],))

        program = replace(case.program, steps=tuple(map(fewer, case.program.steps)))
        if program == case.program:
            return False
        try:
            values = batched(program, case.batch, arrays(case.inputs))
        except (Rejected, ValueError):
            return False
        return mapped_alike(TypedMeaning(case, meaning.types, values), seen) is None

    return shown


INDEX: Final = TypedDivergence(
    "jax",
    "Over a mapped axis and other axes together JAX's axis_index is the index along the innermost mapped one alone.",
    _fewer_axes("axis_index", innermost=True),
)

PERMUTED: Final = TypedDivergence(
    "jax",
    "Over a mapped axis and other axes together JAX's ppermute takes its pairs as positions along the other axes.",
    lambda meaning, seen: (
        _fewer_axes("permute", "shuffle", innermost=False)(meaning, seen)
        or _refused("permute", "shuffle")(meaning, seen)
    ),
)

PARTIAL: Final = TypedDivergence(
    "jax",
    "Over a mapped axis alone JAX's ppermute refuses pairs that do not name every position.",
    lambda meaning, seen: seen.raised and any(_partial(meaning, step) for step in meaning.case.program.steps),
)

GATHERED: Final = TypedDivergence(
    "jax",
    "Over a mapped axis JAX's all_gather and psum_scatter refuse any other axis beside it.",
    _refused("all_gather", "reduce_scatter"),
)


def _uncast(meaning: TypedMeaning, step: TypedStep) -> bool:
    """Return whether the rule of a step's transform is what needs a cast that nobody wrote."""
    if meaning.case.cotangents:
        return step.op == "all_gather" and step.attrs["to"] == "invariant"
    return step.op == "axis_index" and across(meaning, step) in ("both", "several")


UNCAST: Final = TypedDivergence(
    "jax",
    "Where no cast is automatic JAX refuses the transpose of all_gather to invariant, and an axis_index over a mapped "
    "axis and another.",
    lambda meaning, seen: (
        seen.raised
        and not meaning.case.program.automatic
        and any(_uncast(meaning, step) for step in meaning.case.program.steps)
    ),
)


def jax_gather(act: Act, given: Blocks) -> list[Blocks]:
    """JAX's transpose of all_gather: the own piece of an invariant result, also where no value has a type."""
    return own_piece(act, given) if act.step.attrs["to"] == "invariant" else TRANSPOSES["all_gather"](act, given)


def ragged_rule(*, zeros: bool = False, overlaps: bool = False, whole: bool = False) -> Rule:
    """Return JAX's transpose of ragged_all_to_all, with those of its three ways to leave the adjoint that are true.

    With ``zeros`` a slice without rows unmarks the row that a slice at the same offset was written to. With
    ``overlaps`` a row in several slices has the cotangent of the last copy alone. With ``whole`` offsets are exchanged
    over the whole axis where there are groups.
    """

    def rule(act: Act, given: Blocks) -> list[Blocks]:
        own = tables(act.step, len(given), act.groups)
        groups = whole_lines(act.groups) if whole else act.groups
        starts, counts, places, arriving = own
        backs, tos = _exchanged(places, groups), _exchanged(starts, groups)
        operand = [np.zeros_like(block) for block in act.operands[0]]
        output = [block.copy() for block in given]
        for group in act.groups:
            each = len(counts[group[0]]) // len(group)
            for receiver in group:
                marks = np.zeros(len(given[receiver]) + 1, int)
                marks[backs[receiver]] = 1
                np.add.at(marks, backs[receiver] + arriving[receiver], -1)
                exact = np.zeros(len(given[receiver]), bool)
                for at, count in zip(backs[receiver], arriving[receiver], strict=True):
                    exact[at : at + count] = True
                mask = np.cumsum(marks[:-1]) != 0 if zeros else exact
                output[receiver][mask] = 0
                for number, (at, count) in enumerate(zip(backs[receiver], arriving[receiver], strict=True)):
                    sender, start = group[number // each], int(tos[receiver][number])
                    rows = given[receiver][at : at + count]
                    target = operand[sender][start : start + len(rows)]
                    target[...] = rows[: len(target)] if overlaps else target + rows[: len(target)]
        return [operand, output]

    return rule


def whole_lines(groups: Groups) -> Groups:
    """Return one group of all ranks, as an exchange that leaves groups out has it."""
    return (tuple(sorted(rank for group in groups for rank in group)),)


def _exchanged(rows: Blocks, groups: Groups) -> Blocks:
    """Return for each rank the entries that the members of its group have for it, in member order."""
    found = list(rows)
    for group in groups:
        for q, receiver in enumerate(group):
            found[receiver] = np.concatenate([np.array_split(rows[sender], len(group))[q] for sender in group])
    return found


def _pulled(rules: Mapping[str, Rule]) -> Shown:
    """Return whether what came back is what these transposes give in the place of the reference's."""

    def shown(meaning: TypedMeaning, seen: Observation) -> bool:
        case = meaning.case
        try:
            back = pullback(case.program, arrays(case.inputs), arrays(case.cotangents), TRANSPOSES | dict(rules))
        except (IndexError, ValueError):
            return False
        return pulled_alike(TypedMeaning(case, meaning.types, meaning.values, back), seen) is None

    return shown


OWN_PIECE: Final = TypedDivergence(
    "jax",
    "Without types JAX's transpose of all_gather to invariant is the member's own piece, not the sum of all copies'.",
    lambda meaning, seen: not meaning.case.program.checked and _pulled({"all_gather": jax_gather})(meaning, seen),
)

ZEROS: Final = TypedDivergence(
    "jax",
    "JAX's transpose of ragged_all_to_all gives rows of output their cotangent although they were written over, where "
    "a slice without rows has the offset of one with rows.",
    _pulled({"ragged_all_to_all": ragged_rule(zeros=True)}),
)

OVERLAPS: Final = TypedDivergence(
    "jax",
    "JAX's transpose of ragged_all_to_all gives a row of the operand that is in several slices the cotangent of one "
    "copy alone.",
    _pulled({"ragged_all_to_all": ragged_rule(overlaps=True)}),
)

WHOLE: Final = TypedDivergence(
    "jax",
    "JAX's transpose of ragged_all_to_all over groups exchanges the offsets over the whole axis.",
    _pulled({"ragged_all_to_all": ragged_rule(whole=True)}),
)
