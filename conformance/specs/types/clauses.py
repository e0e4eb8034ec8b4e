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
    number: int, text: str, source: str, requirement: Requirement = "must", *diverges: TypedDivergence
) -> TypedClause:
    """Return the clause of a rule of the checker: what breaks it is refused."""
    id = f"types.C{number}"
    return TypedClause(id, requirement, text, source, lambda meaning: _breaks(meaning, id), refused, diverges=diverges)


def _breaks(meaning: TypedMeaning, id: str) -> bool:
    return meaning.refused is not None and meaning.refused.clause == id


def _legal(meaning: TypedMeaning) -> bool:
    return meaning.refused is None and meaning.case.kind == "types"


TYPES: Final = (
    TypedClause(
        "types.C11",
        "must",
        "A program that no rule of types or of starts refuses is accepted.",
        "jax.pcast",
        _legal,
        accepted,
    ),
    TypedClause(
        "types.C12",
        "must",
        "With types, each value that a step makes has along each mesh axis the state that the rule of its operation "
        "gives it. Along an axis of one rank invariant is as right: all ranks there hold the same.",
        "jax.pcast",
        lambda meaning: _legal(meaning) and meaning.case.program.checked,
        typed_alike,
        diverges=(by_rules("ragged as output"),),
    ),
    TypedClause(
        "types.C18",
        "may",
        "With types, every value that a step makes is invariant along a mesh axis of one rank.",
        "jax.psum: remove_size_one_mesh_axis_from_type",
        lambda meaning: _legal(meaning) and meaning.case.program.checked and bool(ones(meaning.case.program)),
        invariant_along_ones,
    ),
    TypedClause(
        "types.C14",
        "must",
        "Types change no value: a program computes the same without them. What a cast is lowered to is `lowering.C1`.",
        "jax.pcast",
        _legal,
        valued_alike,
        general=True,
    ),
    TypedClause(
        "types.C13",
        "must",
        "With types, ranks that differ along one mesh axis alone hold the same bits of a result that is invariant or "
        "reduced along that axis, and of the sum that an unreduced result shows.",
        "jax.pcast",
        lambda meaning: _legal(meaning) and meaning.case.program.checked,
        same_along,
    ),
    _rule(
        1,
        "An operation that names a mesh axis which the program is not mapped over is refused.",
        "jax.psum: unbound axis names",
    ),
    _rule(
        2,
        "With types and no automatic casts, refused are an operand invariant along an axis named, or where another "
        "varies (except by all_gather to invariant or reduced, and max or min with one varying axis); a mean with a "
        "further varying axis; an axis_index over several. Broadcast refuses such operands always.",
        "jax.ppermute; jax.pmean; jax.axis_index",
    ),
    _rule(
        3,
        "A cast is from invariant to varying or to reduced, from varying to unreduced, or from reduced to varying; "
        "any other is refused. Without types every operand counts as invariant.",
        "jax.pcast",
    ),
    _rule(
        4,
        "A cast, a sum, a mean and a reduce_scatter over several mesh axes refuse an operand that "
        "has different states along these axes.",
        "jax.pcast; jax.psum; jax.psum_scatter",
    ),
    _rule(
        5,
        "An operation that needs an operand varying along an axis refuses one that is unreduced or reduced there, "
        "except a reduced one that is cast automatically as in `types.C8`.",
        "jax.ppermute; jax.all_gather; jax.all_to_all; jax.pmax",
    ),
    _rule(
        6,
        "An all_gather whose result is reduced refuses an operand that varies along none of the axes that it names; "
        "without types every operand is such a one.",
        "jax.all_gather",
    ),
    _rule(
        7,
        "A mean refuses an operand that is unreduced or reduced along an axis that it does not name.",
        "ours",
        "should",
    ),
    _rule(
        8,
        "A local operation with an operand reduced along an axis refuses operands not reduced along "
        "it, except an unreduced factor of a product, and except where the reduced operand is cast "
        "automatically because others vary along exactly its reduced axes.",
        "jax.local",
        "should",
    ),
    _rule(
        9,
        "A local operation other than a product refuses an unreduced operand, unless it is add, subtract, negate or "
        "sum and all its operands are unreduced along the same axes.",
        "jax.local",
        "should",
    ),
    _rule(
        10,
        "A product of an unreduced factor refuses any other factor that is not reduced along exactly the same axes.",
        "jax.local",
        "should",
    ),
    _rule(
        15,
        "With types, a reduction over groups along an axis, a reduce_scatter over groups of an unreduced operand, and "
        "an all_gather over groups whose result is not varying, are refused, since the groups have different results.",
        "jax.psum; jax.psum_scatter",
        "should",
        by_rules("extremes of groups"),
    ),
    _rule(
        17,
        "An all_gather to another state than varying, invariant or reduced is refused.",
        "jax.all_gather",
    ),
    _rule(
        16,
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


def _steps(fits: Callable[[TypedStep], bool]) -> Callable[[TypedMeaning], bool]:
    return lambda meaning: _back(meaning) and any(fits(step) and step.axes for step in meaning.case.program.steps)


def _transpose(
    number: int, text: str, source: str, when: Callable[[TypedMeaning], bool], *diverges: TypedDivergence
) -> TypedClause:
    id = f"transposes.C{number}"
    return TypedClause(id, "must", text, source, when, pulled_alike, suite="transforms", diverges=diverges)


def _gathers(to: str) -> Callable[[TypedMeaning], bool]:
    return _steps(lambda step: step.op == "all_gather" and step.attrs["to"] == to)


def _sums(*ops: str) -> Callable[[TypedMeaning], bool]:
    return _steps(lambda step: step.op == "all_reduce" and step.attrs["op"] in ops)


def _one(*ops: str) -> Callable[[TypedMeaning], bool]:
    return _steps(lambda step: step.op in ops)


def _casts_by_itself(meaning: TypedMeaning) -> bool:
    return _back(meaning) and len(meaning.written.steps) > len(meaning.case.program.steps)


TRANSPOSES: Final = (
    TypedClause(
        "transposes.C12",
        "must",
        "In a linear program the results paired with their cotangents give the same number as the inputs paired with "
        "the cotangents that come back; a pairing adds the products of all ranks, and takes one of the ranks along an "
        "invariant axis.",
        "ours: the adjoint of a linear map",
        lambda meaning: _back(meaning) and all(step.op != "multiply" for step in meaning.case.program.steps),
        adjoint,
        suite="transforms",
        general=True,
    ),
    TypedClause(
        "transposes.C14",
        "must",
        "The cotangents of the inputs are what the transposes of the steps give, taken from the last step to the "
        "first.",
        "jax.pcast: transpose rules",
        _back,
        pulled_alike,
        suite="transforms",
        general=True,
        diverges=(UNCAST,),
    ),
    _transpose(
        1,
        "With types, the transpose of a sum to an invariant result is the cast to varying along the axes of the sum; "
        "of the sum of an unreduced operand it is the cast to reduced.",
        "jax.psum",
        _sums("sum"),
    ),
    _transpose(
        15,
        "Without types every rank has a result of its own, and the transpose of a sum over ranks is the sum over the "
        "same mesh axes, and in the same groups, of the cotangents.",
        "jax.psum",
        lambda meaning: _sums("sum", "mean")(meaning) and not meaning.case.program.checked,
    ),
    _transpose(
        2,
        "The transpose of a mean is the transpose of the sum, divided by the number of terms.",
        "jax.pmean",
        _sums("mean"),
    ),
    _transpose(
        3,
        "The transpose of permute and of shuffle moves each block back along its pair; a position that is the source "
        "of no pair receives zeros.",
        "jax.ppermute; jax.pshuffle",
        _one("permute", "shuffle"),
    ),
    _transpose(
        4,
        "The transpose of an all_gather whose result is varying is the reduce_scatter, by sum, over the same axes.",
        "jax.all_gather",
        _gathers("varying"),
    ),
    _transpose(
        5,
        "With types, the transpose of an all_gather whose result is invariant gives each member its own piece of the "
        "cotangent. Without types it is the sum, over the axes of the gather, of its pieces of the cotangents of all "
        "members.",
        "jax.all_gather",
        _gathers("invariant"),
        OWN_PIECE,
    ),
    _transpose(
        6,
        "The transpose of an all_gather whose result is reduced is the reduce_scatter of an unreduced operand over "
        "the same axes.",
        "jax.all_gather",
        _gathers("reduced"),
    ),
    _transpose(
        7,
        "The transpose of reduce_scatter is the all_gather over the same axes, to reduced where the operand is "
        "unreduced.",
        "jax.psum_scatter",
        _one("reduce_scatter"),
    ),
    _transpose(
        8,
        "The transpose of all_to_all sends every piece back to the member that it came from.",
        "jax.all_to_all",
        _one("all_to_all"),
    ),
    _transpose(
        9,
        "The transpose of broadcast gives the root of each group the sum of the cotangents of its members, and the "
        "other members zeros.",
        "jax.pbroadcast",
        _one("broadcast"),
    ),
    _transpose(
        16,
        "The transpose of ragged_all_to_all gives each row of the operand the sum of the cotangents of its copies in "
        "its own group, and gives zero to each row of output that was written over; a slice without rows writes over "
        "nothing.",
        "ours: the adjoint of a linear map; jax.ragged_all_to_all: transpose rule",
        _one("ragged_all_to_all"),
        ZEROS,
        OVERLAPS,
        WHOLE,
    ),
    _transpose(
        17,
        "The transpose of a sum over mesh axes and local axes gives every element along the local axes the cotangent "
        "of the sum.",
        "jax.psum",
        _steps(lambda step: bool(step.attrs.get("local_axes"))),
    ),
    _transpose(
        18,
        "The transpose of an operation over groups moves and adds data within each group alone.",
        "jax.all_gather; jax.psum_scatter; jax.all_to_all",
        _steps(lambda step: step.groups is not None),
    ),
    _transpose(
        10,
        "With types, the transpose of a cast from invariant is a sum over the mesh axes that the cast names; the "
        "casts from varying to unreduced and from reduced to varying are the transposes of each other. Without types "
        "the transpose of every cast is the identity.",
        "jax.pcast",
        _one("cast"),
    ),
    _transpose(
        11,
        "The transpose of an automatic cast is the transpose of the same cast as a step.",
        "jax.pcast",
        _casts_by_itself,
    ),
    CONJUGATE,
    *CHAINS,
    TypedClause(
        "transposes.C13",
        "may",
        "No transpose is defined of a program whose results depend on its inputs by a maximum or a minimum, over "
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
