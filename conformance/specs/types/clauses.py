"""The clauses about types of mesh axes and about transposes of typed programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from conformance.cases.types.typed_program import TypedStep
from conformance.judging.clause import Requirement
from conformance.judging.typed import TypedClause, TypedDivergence
from conformance.judging.typed_comparisons import (
    accepted,
    adjoint,
    invariant_along_ones,
    ones,
    pulled_alike,
    refused,
    same_along,
    typed_alike,
    valued_alike,
)
from conformance.judging.typed_steps import Fits, OfSteps, about_steps, meeting_cotangents
from conformance.reference.transforms.meaning import TypedMeaning
from conformance.reference.transforms.no_rule import NotLinear
from conformance.specs.types.batches import BATCHES
from conformance.specs.types.chains import CHAINS
from conformance.specs.types.compiled import COMPILED
from conformance.specs.types.conjugates import CONJUGATE
from conformance.specs.types.divergences import OVERLAPS, OWN_PIECE, UNCAST, WHOLE, ZEROS, by_rules
from conformance.specs.types.lowering import LOWERING
from conformance.specs.types.pushes import PUSHES
from conformance.specs.types.starts import BACK, STARTS


def _rule(
    id: str, text: str, source: str, requirement: Requirement = "must", *diverges: TypedDivergence
) -> TypedClause:
    """Return the clause of a rule of the checker: what breaks it is refused."""
    return TypedClause(id, requirement, text, source, lambda meaning: _breaks(meaning, id), refused, diverges=diverges)


def _breaks(meaning: TypedMeaning, id: str) -> bool:
    return meaning.refused is not None and meaning.refused.clause == id


def _legal(meaning: TypedMeaning) -> bool:
    return meaning.refused is None and meaning.case.kind == "types"


TYPES: Final = (
    TypedClause(
        "types.C11",
        "must",
        "A typed program whose steps are legal for the shapes of their blocks, and that none of `types.C1` to "
        "`types.C10`, `types.C15` to `types.C17`, `starts.C8` to `starts.C10` and `starts.C14` refuses, is "
        "accepted.",
        "jax.pcast",
        _legal,
        accepted,
    ),
    TypedClause(
        "types.C12",
        "must",
        "With types, each value that a step makes has along each mesh axis the state that the rule of its "
        "operation, in the chapter of types, gives it. Along an axis of one rank invariant is right as well.",
        "jax.pcast",
        lambda meaning: _legal(meaning) and meaning.case.program.checked,
        typed_alike,
        diverges=(by_rules("ragged as output"),),
    ),
    TypedClause(
        "types.C18",
        "may",
        "With types, every value that a step makes is invariant along each mesh axis of one rank.",
        "jax.psum: remove_size_one_mesh_axis_from_type",
        lambda meaning: _legal(meaning) and meaning.case.program.checked and bool(ones(meaning.case.program)),
        invariant_along_ones,
    ),
    TypedClause(
        "types.C14",
        "must",
        "Types change no block that a step makes, and a cast gives the blocks of its operand. A result is its "
        "blocks, and an unreduced one their sum along its unreduced axes, on all ranks there.",
        "jax.pcast",
        _legal,
        valued_alike,
        general=True,
    ),
    TypedClause(
        "types.C13",
        "must",
        "With types, ranks that differ along one mesh axis alone hold the same bits of a result that is invariant "
        "or reduced along that axis, and of the sum that an unreduced result shows.",
        "jax.pcast",
        lambda meaning: _legal(meaning) and meaning.case.program.checked,
        same_along,
    ),
    _rule(
        "types.C1",
        "A step that names a mesh axis which its program is not mapped over is refused.",
        "jax.psum: unbound axis names",
    ),
    _rule(
        "types.C2",
        "With types, a broadcast refuses an operand invariant along a named axis. Without automatic casts other "
        "collectives do too (not all_gather to invariant or reduced, nor max or min varying along another named axis), "
        "and a mean varying elsewhere, an axis_index over several axes and operands varying differently are refused.",
        "jax.ppermute; jax.pmean; jax.axis_index",
    ),
    _rule(
        "types.C3",
        "A cast over mesh axes is from invariant to varying or to reduced, from varying to unreduced, or from "
        "reduced to varying, along all these axes; any other is refused. Without types the operand of a cast "
        "counts as invariant.",
        "jax.pcast",
    ),
    _rule(
        "types.C4",
        "With types, a cast, a reduce_scatter and an all_reduce that is a sum or a mean, over several mesh axes, "
        "refuse an operand that has different states along these axes.",
        "jax.pcast; jax.psum; jax.psum_scatter",
    ),
    _rule(
        "types.C5",
        "With types, a collective refuses an operand that is reduced along an axis that it names, or, unless it is a "
        "sum, a mean or a reduce_scatter, unreduced there. Any step refuses one that is reduced or unreduced where "
        "another varies, except a reduced one cast automatically (`types.C8`).",
        "jax.ppermute; jax.all_gather; jax.all_to_all; jax.pmax",
    ),
    _rule(
        "types.C6",
        "An all_gather over mesh axes whose result is reduced refuses an operand that varies along none of these "
        "axes. Without types no operand varies.",
        "jax.all_gather",
    ),
    _rule(
        "types.C7",
        "With types, a mean refuses an operand that is unreduced or reduced along an axis that the mean does not name.",
        "ours",
        "should",
    ),
    _rule(
        "types.C8",
        "With types, a local operation with an operand reduced along an axis refuses others not reduced there, except "
        "an unreduced factor of a product. An automatic cast makes the operand varying instead where others vary, and "
        "it does not, along exactly the axes where it is reduced.",
        "jax.local",
        "should",
    ),
    _rule(
        "types.C9",
        "With types, a local operation other than a product refuses an unreduced operand, unless it is add, "
        "subtract, negate or sum and all its operands are unreduced along the same axes.",
        "jax.local",
        "should",
    ),
    _rule(
        "types.C10",
        "With types, a product refuses an unreduced factor, unless the other factor is reduced along exactly the "
        "axes along which the first is unreduced.",
        "jax.local",
        "should",
    ),
    _rule(
        "types.C15",
        "With types, an all_reduce, a reduce_scatter of an unreduced operand and an all_gather whose result is "
        "not varying are refused where they list groups, since groups have different results along the axes.",
        "jax.psum; jax.psum_scatter",
        "should",
        by_rules("extremes of groups"),
    ),
    _rule(
        "types.C17",
        "An all_gather whose attribute `to` is another state than varying, invariant or reduced is refused.",
        "jax.all_gather",
    ),
    _rule(
        "types.C16",
        "With types, an all_reduce over local axes, with mesh axes or without, has no type. Raising an error is "
        "right, and so is accepting it with a type of the implementation's own.",
        "jax.psum",
        "may",
    ),
    *STARTS,
)
"""The clauses of the suite ``types``, the most particular last."""


def _back(meaning: TypedMeaning) -> bool:
    return meaning.case.kind == "transposed" and meaning.refused is None and meaning.no_rule is None


def _linear(meaning: TypedMeaning) -> bool:
    """Speak of programs that multiply nothing and add no numbers of positions."""
    return _back(meaning) and all(step.op not in ("axis_index", "multiply") for step in meeting_cotangents(meaning))


def _transpose(id: str, text: str, source: str, fits: Fits, *diverges: TypedDivergence) -> TypedClause:
    return about_steps(id, text, source, _back, OfSteps(pulled_alike, fits), *diverges)


def _steps(fits: Callable[[TypedStep], bool]) -> Fits:
    """Tell steps of the program itself over mesh axes."""
    return lambda meaning, step: bool(step.axes) and not _by_itself(meaning, step) and fits(step)


def _gathers(to: str) -> Fits:
    return _steps(lambda step: step.op == "all_gather" and step.attrs["to"] == to)


def _sums(*ops: str) -> Fits:
    return _steps(lambda step: step.op == "all_reduce" and step.attrs["op"] in ops)


def _one(*ops: str) -> Fits:
    return _steps(lambda step: step.op in ops)


def _by_itself(meaning: TypedMeaning, step: TypedStep) -> bool:
    """Return whether a step of the program that is written out is an automatic cast."""
    return all(step.output != other.output for other in meaning.case.program.steps)


TRANSPOSES: Final = (
    TypedClause(
        "transposes.C12",
        "must",
        "In a linear program the results paired with their cotangents give the same number as the inputs paired "
        "with the cotangents that come back. A pairing adds the products of the elements of all ranks; along an "
        "axis where types make the value invariant one rank counts for all.",
        "ours: the adjoint of a linear map",
        _linear,
        adjoint,
        suite="transforms",
        general=True,
    ),
    TypedClause(
        "transposes.C14",
        "must",
        "The cotangents of inputs are what the transposes of the steps give, taken from the last step to the "
        "first. A value that is taken several times has the sum of what comes back, and one that no result "
        "depends on has zeros.",
        "jax.pcast: transpose rules",
        _back,
        pulled_alike,
        suite="transforms",
        general=True,
        diverges=(UNCAST,),
    ),
    _transpose(
        "transposes.C1",
        "With types, the transpose of an all_reduce that is a sum casts the cotangent along the axes of the sum: "
        "to varying where the operand is varying there, to reduced where the operand is unreduced there.",
        "jax.psum",
        lambda meaning, step: meaning.case.program.checked and _sums("sum")(meaning, step),
    ),
    _transpose(
        "transposes.C15",
        "Without types every rank has a result of its own, and the transpose of a sum over ranks gives each rank "
        "the sum of the cotangents of all ranks along the same mesh axes, and in the same group.",
        "jax.psum",
        lambda meaning, step: not meaning.case.program.checked and _sums("sum", "mean")(meaning, step),
    ),
    _transpose(
        "transposes.C2",
        "The transpose of a mean is the transpose of the sum over the same axes, divided by the number of terms.",
        "jax.pmean",
        _sums("mean"),
    ),
    _transpose(
        "transposes.C3",
        "The transpose of permute and of shuffle moves the cotangent of the target of each pair back to its "
        "source. A position that is the source of no pair receives zeros.",
        "jax.ppermute; jax.pshuffle",
        _one("permute", "shuffle"),
    ),
    _transpose(
        "transposes.C4",
        "The transpose of an all_gather whose result is varying is the reduce_scatter of the cotangent, by sum, "
        "over the same mesh axes and groups, along the same axis of the block, tiled or untiled as the all_gather "
        "is.",
        "jax.all_gather",
        _gathers("varying"),
    ),
    _transpose(
        "transposes.C5",
        "With types, the transpose of an all_gather whose result is invariant gives each member its own piece of "
        "the cotangent. Without types it gives each member the sum of that member's piece of the cotangents of "
        "all members.",
        "jax.all_gather",
        _gathers("invariant"),
        OWN_PIECE,
    ),
    _transpose(
        "transposes.C6",
        "The transpose of an all_gather whose result is reduced is the reduce_scatter of the cotangent, which is "
        "unreduced, by sum over the same mesh axes, along the same axis of the block, tiled or untiled as the "
        "all_gather is.",
        "jax.all_gather",
        _gathers("reduced"),
    ),
    _transpose(
        "transposes.C7",
        "The transpose of reduce_scatter is the all_gather of the cotangent over the same mesh axes and groups, "
        "along the same axis of the block, with a reduced result where the operand is unreduced.",
        "jax.psum_scatter",
        _one("reduce_scatter"),
    ),
    _transpose(
        "transposes.C8",
        "The transpose of all_to_all sends every piece of the cotangent back to the member that the piece of the "
        "operand came from, to the place that it had there.",
        "jax.all_to_all",
        _one("all_to_all"),
    ),
    _transpose(
        "transposes.C9",
        "The transpose of broadcast gives the root of each group the sum of the cotangents of all members of that "
        "group, and the other members zeros.",
        "jax.pbroadcast",
        _one("broadcast"),
    ),
    _transpose(
        "transposes.C16",
        "The transpose of ragged_all_to_all gives each row of the operand the sum of the cotangents of its copies "
        "in its own group. It gives zero to each row of output that was written over, and to others their own "
        "cotangents. A slice without rows writes over nothing.",
        "ours: the adjoint of a linear map; jax.ragged_all_to_all: transpose rule",
        _one("ragged_all_to_all"),
        ZEROS,
        OVERLAPS,
        WHOLE,
    ),
    _transpose(
        "transposes.C17",
        "The transpose of a sum over mesh axes and local axes gives every element along the local axes what the "
        "transpose of the sum over these mesh axes alone gives.",
        "jax.psum",
        _steps(lambda step: bool(step.attrs.get("local_axes"))),
    ),
    _transpose(
        "transposes.C18",
        "The transpose of a collective that lists groups moves and adds cotangents within each group alone.",
        "jax.all_gather; jax.psum_scatter; jax.all_to_all",
        _steps(lambda step: step.groups is not None),
    ),
    _transpose(
        "transposes.C10",
        "With types, the transpose of a cast from invariant is a sum over the mesh axes that the cast names; the "
        "casts from varying to unreduced and from reduced to varying are the transposes of each other. Without "
        "types the transpose of every cast changes nothing.",
        "jax.pcast",
        _one("cast"),
    ),
    _transpose(
        "transposes.C11",
        "The transpose of an automatic cast is the transpose of the same cast as a step.",
        "jax.pcast",
        _by_itself,
    ),
    CONJUGATE,
    *CHAINS,
    TypedClause(
        "transposes.C13",
        "may",
        "No transpose is defined of a program in which a cotangent comes back to a maximum or a minimum, over "
        "ranks or of two values. Raising an error is right, and so is a transpose of the implementation's own.",
        "jax.pmax",
        lambda meaning: meaning.case.kind == "transposed" and isinstance(meaning.no_rule, NotLinear),
        refused,
        suite="transforms",
    ),
    *BACK,
)
"""The clauses of transposes in the suite ``transforms``, the most particular last."""

CLAUSES: Final = (*TYPES, *TRANSPOSES, *PUSHES, *BATCHES, *LOWERING, *COMPILED)
