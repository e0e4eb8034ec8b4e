"""The clauses about (source, destination) pairs, which permute, send and recv share."""

from __future__ import annotations

from conformance.judging.clause import Clause
from conformance.judging.divergences import accepts, diverging
from conformance.judging.subject import Subject
from conformance.specs.op import rejection

Pairs = tuple[tuple[int, int], ...]

PAIRS: tuple[Clause, ...] = (
    rejection(
        "pairs.C1",
        "A permute, send or recv with two pairs that have the same source is rejected, except over no mesh axis "
        "(`collective.C30`) or without operands (`collective.C27`).",
        "jax.ppermute: _pcollectives_lowering_common",
    ),
    rejection(
        "pairs.C2",
        "A permute, send or recv with two pairs that have the same destination is rejected, except over no mesh axis "
        "(`collective.C30`) or without operands (`collective.C27`).",
        "jax.ppermute: _pcollectives_lowering_common",
    ),
    rejection(
        "pairs.C3",
        "A permute, send or recv with a pair in which a position is not below the group size is rejected, except over "
        "no mesh axis (`collective.C30`) or without operands (`collective.C27`).",
        "jax.ppermute: perm",
    ),
    diverging(
        rejection(
            "pairs.C4",
            "A permute, send or recv with a negative position in a pair is rejected, except over no mesh axis "
            "(`collective.C30`) or without operands (`collective.C27`).",
            "jax.ppermute: perm",
            "should",
        ),
        accepts("jax", "Positions are indices of a list of Python, which count from the end too."),
    ),
)


def pairs_of(subject: Subject) -> list[tuple[int, int]]:
    """Return the (source, destination) pairs of the step."""
    pairs = subject.step.attrs["pairs"]
    assert isinstance(pairs, tuple | list)
    return [(pair[0], pair[1]) for pair in pairs]  # type: ignore[index]  # pairs of pairs, by ``check_step``
