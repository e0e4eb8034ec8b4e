"""The clauses that every collective shares, whatever it computes."""

from __future__ import annotations

from conformance.judging.clause import Clause, Subject, always, illegal, legal
from conformance.judging.compare import answered, blames_argument, canonical_bools, inputs_kept, refused_by_all
from conformance.specs.op import rejection, value


def several_groups(subject: Subject) -> bool:
    """Speak about cases with more than one group."""
    return subject.step.groups is not None and len(subject.step.groups) > 1


def mixed_layouts(subject: Subject) -> bool:
    """Speak about cases in which ranks hold one value in different layouts."""
    return any(len(set(operand.layouts)) > 1 for operand in subject.case.inputs.values())


def laid_out(subject: Subject) -> bool:
    """Speak about cases with a block that is not plainly contiguous."""
    return subject.has("layout", "strided", "transposed", "flipped", "broadcast", "offset")


def returns_bool(subject: Subject) -> bool:
    """Speak about cases with a bool result."""
    return any(block.dtype == bool for blocks in subject.expected.values() for block in blocks)


COMMON: tuple[Clause, ...] = (
    Clause("collective.C1", "must", "Every rank returns every result.", legal, answered, "001"),
    Clause("collective.C2", "must", "Inputs keep every byte, also around a view.", always, inputs_kept, "002"),
    Clause(
        "collective.C3",
        "must",
        "A bool result holds only the bytes 0 and 1.",
        lambda s: s.legal and returns_bool(s),
        canonical_bools,
        "000",
    ),
    value("collective.C4", "The result depends on a block's value and not on its memory layout.", "002", laid_out),
    rejection("collective.C5", "Groups name every position exactly once; any others are rejected.", "001"),
    rejection("collective.C6", "Groups of unequal size are rejected where the result's shape depends on it.", "001"),
    value("collective.C7", "Each group computes alone: no value crosses from one to another.", "001", several_groups),
    value(
        "collective.C8",
        "A member's position is its place in the group as listed, not its rank among the members.",
        "001",
        lambda s: s.has("groups", "unsorted"),
    ),
    value("collective.C9", "Members of a group need not be consecutive.", "001", lambda s: s.has("groups", "strided")),
    value("collective.C10", "A group of one is a group.", "001", lambda s: s.has("groups", "singletons")),
    value(
        "collective.C11",
        "A block with no elements has a result, of the right shape.",
        "002",
        lambda s: s.has("size", "empty"),
    ),
    value("collective.C12", "A world of one rank is a world.", "001", lambda s: s.has("world", "1")),
    Clause("collective.C13", "must", "What one rank refuses, every rank refuses.", illegal, refused_by_all, "001"),
    Clause(
        "collective.C14",
        "should",
        "A refusal blames the argument, not the inside of the implementation.",
        illegal,
        blames_argument,
        "001",
    ),
    value(
        "collective.C15",
        "Where groups may differ in size, each member uses its own.",
        "001",
        lambda s: s.has("groups", "uneven"),
    ),
    value("collective.C16", "A block of rank 0 is a block.", "001", lambda s: s.has("ndim", "0")),
    value("collective.C17", "Ranks may hold their blocks in different layouts.", "002", mixed_layouts),
    value(
        "collective.C18",
        "Movement keeps every bit: NaN payloads and the sign of zero.",
        "001",
        lambda s: s.has("values", "nan", "negative_zero"),
    ),
)
