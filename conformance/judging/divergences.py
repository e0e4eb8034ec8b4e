"""What sources say where a clause of this specification says something else, and how an observation shows it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from msgspec.structs import replace as changed

from conformance.cases.case import Case
from conformance.cases.observation import Observation
from conformance.cases.program.computing import computes
from conformance.cases.tensor.dtypes import Array, logical
from conformance.cases.tensor.tensor import Tensor, from_array, to_array
from conformance.judging.clause import Clause, Divergence, legal
from conformance.judging.compare import answered, differences, missing, same, unlike
from conformance.judging.numbers.admissible import admissible
from conformance.judging.numbers.recommended_elements import spared
from conformance.judging.subject import ElementMasks, Subject
from conformance.reference.rejection import Rejected
from conformance.reference.spmd import evaluate


def diverging(clause: Clause, *divergences: Divergence) -> Clause:
    """Return ``clause`` with what sources say otherwise."""
    return replace(clause, diverges=divergences)


def refuses(source: str, text: str, when: Callable[[Subject], bool] = legal) -> Divergence:
    """Return the divergence of a source that refuses, on every rank, what has a meaning here."""

    def shown(subject: Subject, seen: Observation) -> bool:
        return subject.legal and when(subject) and seen.refused and None not in seen.errors

    return Divergence(source, text, shown)


def accepts(source: str, text: str) -> Divergence:
    """Return the divergence of a source that gives a meaning to what is rejected here."""

    def shown(subject: Subject, seen: Observation) -> bool:
        return not subject.legal and not seen.raised

    return Divergence(source, text, shown)


def concerns(source: str, text: str, ops: Collection[str]) -> Divergence:
    """Return the divergence of a source by which a call of ``ops`` concerns some ranks alone, who alone refuse it."""

    def shown(subject: Subject, seen: Observation) -> bool:
        return not subject.legal and subject.step.op in ops and seen.refused and None in seen.errors

    return Divergence(source, text, shown)


def unimplemented(source: str, text: str, clause: str) -> Divergence:
    """Return the divergence of a source that gives a meaning to what ``clause`` rejects, and does not implement it.

    Every error says so by its status.
    """

    def shown(subject: Subject, seen: Observation) -> bool:
        said = [error.message.startswith("UNIMPLEMENTED") for error in seen.errors if error is not None]
        return subject.rejected is not None and subject.rejected.clause == clause and bool(said) and all(said)

    return Divergence(source, text, shown)


def asserts(source: str, text: str, *clauses: str) -> Divergence:
    """Return the divergence of a source that ends in an assertion where one of ``clauses`` rejects."""

    def shown(subject: Subject, seen: Observation) -> bool:
        kinds = {error.kind for error in seen.errors if error is not None}
        return subject.rejected is not None and subject.rejected.clause in clauses and kinds == {"AssertionError"}

    return Divergence(source, text, shown)


def nan_of(source: str, text: str, dtype: str) -> Divergence:
    """Return the divergence of a source by which what is folded of a ``dtype`` is NaN; every other element is right."""

    def shown(subject: Subject, seen: Observation) -> bool:
        return (
            subject.legal
            and answered(subject, seen) is None
            and all(
                found is None or (found.dtype == dtype and _right_or_nan(expected, found))
                for name, blocks in subject.expected.items()
                for expected, found in zip(blocks, seen.results[name], strict=True)
            )
        )

    return Divergence(source, text, shown)


def _right_or_nan(expected: Array | None, found: Tensor) -> bool:
    """Return whether every element of a block is the expected one or NaN."""
    if expected is None or found.shape != expected.shape:
        return False
    got = to_array(found)
    return bool((np.isnan(got.astype(np.float32)) | (_bits(got) == _bits(expected))).all())


def means(source: str, text: str, otherwise: Callable[[Case], Case | None]) -> Divergence:
    """Return the divergence of a source by which a case means what it would mean ``otherwise``.

    What then has no meaning is refused on every rank. A call whose operands an earlier one made, which means something
    else as well, is shown by the whole program.
    """

    def shown_of(subject: Subject, seen: Observation) -> bool:
        other = otherwise(subject.case) if subject.legal else None
        if other is None:
            return False
        try:
            expected = evaluate(other)
        except Rejected:
            return bool(seen.errors) and None not in seen.errors
        if seen.raised or not subject.expected.keys() <= expected.keys():
            return False
        known = {name: expected[name] for name in subject.expected}
        # Which NaNs arithmetic made is the other program's, too.
        case = other if subject.whole is subject else subject.case
        return same(replace(subject, case=case, expected=known), seen) is None

    def shown(subject: Subject, seen: Observation) -> bool:
        return shown_of(subject, seen) or (subject.whole is not subject and shown_of(subject.whole, seen))

    return Divergence(source, text, shown, otherwise)


def any_term(source: str, text: str, where: Callable[[Subject], ElementMasks | None]) -> Divergence:
    """Return the divergence of a source that lets an element be any of its terms ``where`` this specification chooses.

    Every other element is one that every *must* admits, so that a source may choose neither there nor between zeros.
    """

    def shown(subject: Subject, seen: Observation) -> bool:
        if seen.raised or not subject.legal or answered(subject, seen) is not None:
            return False
        masks = where(subject)
        if masks is None:
            return admissible(subject, seen) is None
        chosen = all(
            _some_term(*each)
            for name, blocks in subject.expected.items()
            if name in subject.folds.by_result
            for each in zip(blocks, seen.results[name], masks[name], subject.folds.by_result[name].ranks, strict=True)
        )
        return chosen and admissible(subject, spared(subject, seen, [masks])) is None

    return Divergence(source, text, shown)


def _some_term(expected: Array | None, found: Tensor | None, mask: Array | None, terms: Sequence[Array] | None) -> bool:
    """Return whether every element of a result that ``mask`` holds is the expected one or that of some term."""
    if expected is None or found is None or mask is None or terms is None:
        return True
    if (found.dtype, found.shape) != (logical(expected.dtype), expected.shape):
        return False
    bits = _bits(to_array(found))
    allowed = ~mask | (bits == _bits(expected)) | np.any([bits == _bits(term) for term in terms], axis=0)
    return bool(allowed.all())


def _bits(block: Array) -> Array:
    """Return the bit patterns of real numbers."""
    return np.ascontiguousarray(block).view(f"u{block.itemsize}").reshape(block.shape)


def admits(source: str, text: str) -> Divergence:
    """Return the divergence of a source that chooses nothing among what every *must* admits."""

    def shown(subject: Subject, seen: Observation) -> bool:
        return subject.legal and admissible(subject, seen) is None

    return Divergence(source, text, shown)


def adds_to_zeros(source: str, text: str) -> Divergence:
    """Return the divergence of a source that moves blocks by adding them to zeros.

    -0.0 comes as 0.0 and a NaN as any NaN, since a sum makes a NaN and not a particular one; every other bit is kept.
    """

    def shown(subject: Subject, seen: Observation) -> bool:
        return (
            subject.legal
            and answered(subject, seen) is None
            and all(
                _summed_alike(*each)
                for name, blocks in subject.expected.items()
                for each in zip(blocks, seen.results[name], strict=True)
            )
        )

    return Divergence(source, text, shown)


def any_nan(source: str, text: str) -> Divergence:
    """Return the divergence of a source by which a NaN of 8 bits, or of bfloat16, comes as any NaN.

    It is shown where one does; every other element is one that every *must* admits.
    """

    def shown(subject: Subject, seen: Observation) -> bool:
        if not subject.legal or answered(subject, seen) is not None:
            return False
        masks = {
            name: [_narrow_nans(*each) for each in zip(blocks, seen.results[name], strict=True)]
            for name, blocks in subject.expected.items()
        }
        tidied = spared(subject, seen, [masks])
        problems = [[one.problem for one in differences(subject, each)] for each in (seen, tidied)]
        return problems[0] != problems[1] and admissible(subject, tidied) is None

    return Divergence(source, text, shown)


NARROW_NAN: Final = any_nan(
    "jax",
    'XLA on the processor takes narrow floats through a wider one where it lacks them: "adds F32 <-> BF16 conversions '
    'for HLO instructions that do not support BF16 input/output". A NaN stays a NaN; its sign and its payload are not '
    "kept.",
)
"""What becomes of a NaN that a program moves, keeps in storage or chooses."""


def _narrow_nans(expected: Array | None, found: Tensor | None) -> Array | None:
    """Return which elements of a block of narrow floats are NaN, as is expected of them."""
    if expected is None or found is None:
        return None
    dtype, shape = logical(expected.dtype), expected.shape
    if (found.dtype, found.shape) != (dtype, shape) or not (dtype == "bfloat16" or dtype.startswith("float8")):
        return None
    with np.errstate(invalid="ignore"):
        nans = [np.isnan(each.astype(np.float32)) for each in (to_array(found), expected)]
    return np.asarray(nans[0] & nans[1])


def _summed_alike(expected: Array | None, found: Tensor | None) -> bool:
    """Return whether a block is the expected one, zeros without their signs and one NaN as good as another."""
    if expected is None or found is None:
        return True
    if (found.dtype, found.shape) != (logical(expected.dtype), expected.shape):
        return False
    wanted, got = _parts(expected), _parts(to_array(found))
    with np.errstate(invalid="ignore"):
        alike = ((wanted == 0) & (got == 0)) | (np.isnan(wanted) & np.isnan(got))
    return bool((alike | (_bits(wanted) == _bits(got))).all())


def _parts(block: Array) -> Array:
    """Return the real numbers that a block is made of."""
    return np.stack([block.real, block.imag]) if block.dtype.kind == "c" else block


def leaves_open(source: str, text: str, most: Callable[[Subject], float | None]) -> Divergence:
    """Return the divergence of a source that says nothing of results past a magnitude, ``most`` of a subject.

    What is folded from terms whose magnitudes come to no more than that is demanded as everywhere, where a program of
    magnitudes can say what that is.
    """

    def shown(subject: Subject, seen: Observation) -> bool:
        limit = None if seen.raised or not subject.legal else most(subject)
        if limit is None or not _formed(subject, seen):
            return False
        if computes(subject.whole.case.program):
            return True  # Of what is computed of magnitudes nothing follows.
        try:
            past = evaluate(_magnitudes(subject.whole.case))
        except Rejected:
            return True
        for name, blocks in subject.expected.items():
            for expected, found, size in zip(blocks, seen.results[name], past[name], strict=True):
                if expected is None or found is None or size is None:
                    continue
                if ((to_array(found) != expected) & (size <= limit)).any():
                    return False
        return True

    return Divergence(source, text, shown)


def _formed(subject: Subject, seen: Observation) -> bool:
    """Return whether every result is there, in its dtype and shape."""
    return missing(subject.expected, seen) is None and not any(
        expected is not None and found is not None and unlike(expected, found)
        for name, blocks in subject.expected.items()
        for expected, found in zip(blocks, seen.results[name], strict=True)
    )


def _magnitudes(case: Case) -> Case:
    """Return the case with the absolute value of every term, in float64."""
    inputs = {
        name: changed(
            operand, blocks=tuple(from_array(np.abs(to_array(block).astype(np.float64))) for block in operand.blocks)
        )
        for name, operand in case.inputs.items()
    }
    return changed(case, inputs=inputs)


SORTED: Final = ("permute", "recv", "send", "shuffle")
"""The operations whose ranks JAX sorts: their lowerings have no groups."""


def in_mesh_order(case: Case) -> Case | None:
    """Return the case with the axes of what moves along pairs in the order of the mesh; ``None`` where they are."""
    steps = tuple(
        changed(step, axes=tuple(axis.name for axis in case.program.mesh if axis.name in step.axes))
        if step.op in SORTED
        else step
        for step in case.program.steps
    )
    return None if steps == case.program.steps else changed(case, program=changed(case.program, steps=steps))
