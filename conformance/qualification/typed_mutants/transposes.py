"""Wrong transposes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from msgspec.structs import replace

from conformance.cases.program.program import Groups
from conformance.qualification.typed_mutants.mutant import TypedMutant
from conformance.reference.operations.all_reduce import all_reduce
from conformance.reference.rejection import Rejected
from conformance.reference.transforms import transposes as right
from conformance.reference.transforms.transposes import Act, Blocks
from conformance.reference.types.values import evaluate
from conformance.specs.types.divergences import jax_gather, ragged_rule

Rule = Callable[[Act, Blocks], list[Blocks]]

TABLE: Final = "conformance.reference.transforms.transposes.TRANSPOSES"


def _rule(name: str, text: str, **rules: Rule) -> TypedMutant:
    return TypedMutant(name, text, entries={TABLE: rules})


def _summed(act: Act, given: Blocks) -> Blocks:
    return all_reduce(given, op="sum", groups=act.groups)


def _attrs(act: Act, **attrs: object) -> Act:
    step = replace(act.step, attrs={**act.step.attrs, **attrs})
    return Act(step, act.types, act.operands, act.groups, act.checked)


def _without_groups(rule: Rule) -> Rule:
    def wrong(act: Act, given: Blocks) -> list[Blocks]:
        return rule(Act(act.step, act.types, act.operands, _even(act.groups), act.checked), given)

    return wrong


def _even(groups: Groups) -> Groups:
    """Return groups of the same sizes, of ranks in order."""
    size = len(groups[0])
    ranks = sorted(rank for group in groups for rank in group)
    return tuple(tuple(ranks[at : at + size]) for at in range(0, len(ranks), size))


def _sum_again(act: Act, given: Blocks) -> list[Blocks]:
    return right.all_reduce(act, _summed(act, given))


def _sum_of_own(act: Act, given: Blocks) -> list[Blocks]:
    return right.all_reduce(Act(act.step, act.types, act.operands, act.groups), given)


def _mean_whole(act: Act, given: Blocks) -> list[Blocks]:
    return right.all_reduce(_attrs(act, op="sum") if act.step.attrs["op"] == "mean" else act, given)


def _mean_of_world(act: Act, given: Blocks) -> list[Blocks]:
    (back,) = right.all_reduce(act, given)
    share = len(given) // len(act.groups[0]) if act.step.attrs["op"] == "mean" else 1
    return [[block / block.dtype.type(share) for block in back]]


def _local_once(act: Act, given: Blocks) -> list[Blocks]:
    (back,) = right.all_reduce(act, given)
    axes = act.step.attrs.get("local_axes", ())
    assert isinstance(axes, tuple)
    for axis in axes:
        assert isinstance(axis, int)
        back = [np.where(np.indices(block.shape)[axis] == 0, block, block.dtype.type(0)) for block in back]
    return [back]


def _own_always(act: Act, given: Blocks) -> list[Blocks]:
    return right.own_piece(act, given)


def _sum_always(act: Act, given: Blocks) -> list[Blocks]:
    return right.all_gather(_attrs(act, to="varying"), given)


def _reduced_own(act: Act, given: Blocks) -> list[Blocks]:
    reduced = act.step.attrs["to"] == "reduced" and act.checked
    return right.own_piece(act, given) if reduced else right.all_gather(act, given)


def _gather_first(act: Act, given: Blocks) -> list[Blocks]:
    """Gather along axis 0, in the shape that is asked for."""
    (back,) = right.reduce_scatter(_attrs(act, axis=0), given)
    (wanted,) = right.reduce_scatter(act, given)
    return [[block.reshape(like.shape) for block, like in zip(back, wanted, strict=True)]]


def _scatter_mean(act: Act, given: Blocks) -> list[Blocks]:
    (back,) = right.reduce_scatter(act, given)
    return [[block / block.dtype.type(len(act.groups[0])) for block in back]]


def _same_exchange(act: Act, given: Blocks) -> list[Blocks]:
    """Split and join the same axes again, in the shape that is asked for, where the cotangent divides so."""
    split, concat = act.step.attrs["concat_axis"], act.step.attrs["split_axis"]
    (wanted,) = right.all_to_all(act, given)
    try:
        (back,) = right.all_to_all(_attrs(act, split_axis=split, concat_axis=concat), given)
    except (Rejected, IndexError):
        return [wanted]
    return [[block.reshape(like.shape) for block, like in zip(back, wanted, strict=True)]]


def _forward(act: Act, given: Blocks) -> list[Blocks]:
    pairs = act.step.attrs["pairs"]
    assert isinstance(pairs, tuple)
    return right.permute(_attrs(act, pairs=tuple(pair[::-1] for pair in pairs if isinstance(pair, tuple))), given)


def _kept(act: Act, given: Blocks) -> list[Blocks]:
    """Leave the cotangent where nothing comes back, in the place of zeros."""
    (back,) = right.permute(act, given)
    pairs = act.step.attrs["pairs"]
    assert isinstance(pairs, tuple)
    sources = {pair[0] for pair in pairs if isinstance(pair, tuple)}
    place = {rank: at for group in act.groups for at, rank in enumerate(group)}
    return [[block if place[rank] in sources else given[rank] for rank, block in enumerate(back)]]


def _shuffle_forward(act: Act, given: Blocks) -> list[Blocks]:
    sources = act.step.attrs["sources"]
    assert isinstance(sources, tuple)
    inverse = tuple(sorted(range(len(sources)), key=lambda at: sources[at]))
    return right.shuffle(_attrs(act, sources=inverse), given)


def _everywhere(act: Act, given: Blocks) -> list[Blocks]:
    return [_summed(act, given)]


def _root_own(act: Act, given: Blocks) -> list[Blocks]:
    (back,) = right.broadcast(act, given)
    return [[own if block.any() else block for own, block in zip(given, back, strict=True)]]


def _cast_alone(_: Act, given: Blocks) -> list[Blocks]:
    return [given]


def _cast_sums(act: Act, given: Blocks) -> list[Blocks]:
    return [_summed(act, given)] if act.checked else right.cast(act, given)


def _same_sign(_: Act, given: Blocks) -> list[Blocks]:
    return [given, given]


def _swapped(act: Act, given: Blocks) -> list[Blocks]:
    left, other = right.multiply(act, given)
    return [other, left]


def _conjugate_factors(act: Act, given: Blocks) -> list[Blocks]:
    operands = tuple([np.conj(block) for block in blocks] for blocks in act.operands)
    return right.multiply(Act(act.step, act.types, operands, act.groups, act.checked), given)


def _conjugate(rule: Rule) -> Rule:
    def wrong(act: Act, given: Blocks) -> list[Blocks]:
        return [[np.conj(block) for block in blocks] for blocks in rule(act, given)]

    return wrong


def _spread_share(act: Act, given: Blocks) -> list[Blocks]:
    (back,) = right.sum_(act, given)
    axis = act.step.attrs["axis"]
    assert isinstance(axis, int)
    return [[block / block.dtype.type(block.shape[axis]) for block in back]]


def _output_too(act: Act, given: Blocks) -> list[Blocks]:
    operand, _ = right.ragged_all_to_all(act, given)
    return [operand, given]


def _last_term(found: dict[str, Blocks], name: str, blocks: Blocks) -> None:
    found[name] = blocks


def _of_ones(program: object, inputs: dict[str, Blocks]) -> dict[str, Blocks]:
    ones = {name: [np.ones_like(block) for block in blocks] for name, blocks in inputs.items()}
    return evaluate(program, ones)  # type: ignore[arg-type]  # what the pullback gives it


MUTANTS: Final = (
    _rule("SumIsSummedAgain", "The transpose of a typed sum sums.", all_reduce=_sum_again),
    _rule("UntypedSumIsNotSummed", "Without types a sum's transpose is the cotangent.", all_reduce=_sum_of_own),
    _rule("MeanIsNotDivided", "The transpose of a mean is that of the sum.", all_reduce=_mean_whole),
    _rule("MeanOfTheWorld", "A mean's transpose divides by all ranks.", all_reduce=_mean_of_world),
    _rule("LocalAxesOnce", "The first slice of a local axis has the cotangent.", all_reduce=_local_once),
    _rule("GatherGivesOwnPiece", "Every gather's transpose is the own piece.", all_gather=_own_always),
    _rule("InvariantGatherSums", "The cotangent of an invariant gather is summed.", all_gather=_sum_always),
    _rule("ReducedGatherGivesOwnPiece", "A reduced gather's transpose is the own piece.", all_gather=_reduced_own),
    _rule("UntypedGatherGivesOwnPiece", "JAX's transpose without types.", all_gather=jax_gather),
    _rule("GatherIgnoresGroups", "Groups are of ranks in order.", all_gather=_without_groups(right.all_gather)),
    _rule("ScatterGathersFirstAxis", "The transpose of a scatter gathers along axis 0.", reduce_scatter=_gather_first),
    _rule("ScatterIsDivided", "The transpose of a scatter is a mean's.", reduce_scatter=_scatter_mean),
    _rule("ScatterIgnoresGroups", "Groups in order.", reduce_scatter=_without_groups(right.reduce_scatter)),
    _rule("ExchangeIsNotTurned", "The transpose exchanges the same axes again.", all_to_all=_same_exchange),
    _rule("ExchangeIgnoresGroups", "Groups are of ranks in order.", all_to_all=_without_groups(right.all_to_all)),
    _rule("PermutesForwardAgain", "The cotangent goes along the pairs.", permute=_forward),
    _rule("PermuteKeepsWhatIsLeft", "Who sends nothing keeps its cotangent.", permute=_kept),
    _rule("ShufflesForwardAgain", "The cotangent goes the way of the shuffle.", shuffle=_shuffle_forward),
    _rule("BroadcastGivesAll", "Every rank has the sum.", broadcast=_everywhere),
    _rule("BroadcastGivesRootItsOwn", "The root has its own cotangent.", broadcast=_root_own),
    _rule("CastMovesNothingBack", "The transpose of a cast from invariant is the cotangent.", cast=_cast_alone),
    _rule("EveryCastSums", "The transpose of every cast is a sum.", cast=_cast_sums),
    _rule("DifferenceIsSum", "Both operands of a difference have one sign.", subtract=_same_sign),
    _rule("FactorsSwapped", "Each factor has the cotangent times itself.", multiply=_swapped),
    _rule("FactorsConjugated", "Factors are conjugate.", multiply=_conjugate_factors),
    _rule("MovesConjugate", "What moves back is conjugate.", permute=_conjugate(right.permute)),
    _rule("SumsConjugate", "What a sum gives back is conjugate.", all_reduce=_conjugate(right.all_reduce)),
    _rule("LocalSumIsDivided", "A local sum is a mean.", sum=_spread_share),
    _rule("RaggedZerosUnmark", "JAX: rows without slices unmark others.", ragged_all_to_all=ragged_rule(zeros=True)),
    _rule("RaggedRowsOnce", "JAX: one copy of a row counts.", ragged_all_to_all=ragged_rule(overlaps=True)),
    _rule("RaggedIgnoresGroups", "JAX: offsets over the axis.", ragged_all_to_all=ragged_rule(whole=True)),
    _rule("RaggedOutputWhole", "Rows that were written over have cotangents.", ragged_all_to_all=_output_too),
    TypedMutant(
        "LastUseCounts",
        "Of a value that is used twice one use counts.",
        {"conformance.reference.transforms.pullback._add": _last_term},
    ),
    TypedMutant(
        "NoAutomaticCast",
        "Automatic casts have no transpose.",
        {"conformance.reference.transforms.pullback.written_out": lambda program: program},
    ),
    TypedMutant(
        "FactorsAreOne",
        "The values that a product was made of are lost.",
        {"conformance.reference.transforms.pullback.evaluate": _of_ones},
    ),
)
