"""all_to_all_uneven."""

from __future__ import annotations

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Attr, Groups
from conformance.judging.subject import Subject
from conformance.specs.domains import choices
from conformance.specs.domains.calls import COUNTS, REST, SIZES, UNITS, Call, Drawn, great
from conformance.specs.domains.domain import EQUAL, Draft, draft
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.op import Example, Op, rejection, value


def sends_nothing(subject: Subject) -> bool:
    """Speak about cases in which some part is empty."""
    sends = subject.step.attrs["sends"]
    return isinstance(sends, tuple | list) and any(0 in row for row in sends if isinstance(row, tuple | list))


def uneven(subject: Subject) -> bool:
    """Speak about cases in which parts differ in size."""
    sends = subject.step.attrs["sends"]
    return (
        isinstance(sends, tuple | list) and len({n for row in sends if isinstance(row, tuple | list) for n in row}) > 1
    )


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw split sizes for every pair of positions, and now and then sizes that do not fit."""
    drawn: Draft = draft(draw, groups=EQUAL)
    size = drawn.member_count
    count = choices.sampled_from([1, 2, 0, 3])
    sends = [draw(choices.lists(count, min_size=size, max_size=size)) for _ in range(size)]
    receives = [[sends[q][p] for q in range(size)] for p in range(size)]
    rows = [sum(row) for row in sends]
    misuse = draw(choices.sampled_from([*["none"] * 10, "negative", "short", "receives", "rows", "none"]))
    if misuse == "negative":
        # The sums stay, so that nothing but the sign is wrong.
        sends[0][-1] += sends[0][0] + 1
        sends[0][0] = -1
        receives = [[sends[q][p] for q in range(size)] for p in range(size)]
    if misuse == "short":
        sends[0].pop()
    if misuse == "receives":
        receives[0][0] += 1
    if misuse == "rows":
        rows[0] += 1
    rest = draw(choices.sampled_from([(), (2,), (1, 3), (0,)]))
    attrs = {"sends": _table(sends), "receives": _table(receives)}
    return drawn.program("all_to_all_uneven", {"x": _operand(drawn, rows, rest)}, ("y",), attrs)


def _operand(drawn: Draft, rows: list[int], rest: tuple[int, ...]) -> Operand:
    """Draw blocks of as many rows as the position of each rank sends."""
    whole = drawn.operand((max(rows, default=0), *rest))
    at = {rank: p for group in drawn.rank_groups() for p, rank in enumerate(group)}
    kept = {rank: rows[at[rank] % len(rows)] if rank in at else rows[0] for rank in range(drawn.world)}
    return drawn.with_rows(whole, [kept[rank] for rank in range(drawn.world)])


def _table(rows: list[list[int]]) -> Groups:
    return tuple(tuple(row) for row in rows)


def calls(draw: choices.Draw, drawn: Draft, shapes: str) -> Drawn:
    """Draw a legal call of it."""
    size, long = drawn.group_size, shapes in SIZES
    unit = -(-great(drawn, shapes) // size) if long else draw(UNITS)
    sends = [[unit * draw(COUNTS["whole" if long else shapes]) for _ in range(size)] for _ in range(size)]
    receives = tuple(tuple(sends[q][p] for q in range(size)) for p in range(size))
    at = {rank: p for group in drawn.rank_groups() for p, rank in enumerate(group)}
    rest = () if long else draw(REST)
    operand = tuple((sum(sends[at.get(rank, 0) % size]), *rest) for rank in range(drawn.world))
    attrs: dict[str, Attr] = {"sends": tuple(map(tuple, sends)), "receives": receives}
    return drawn, Call("all_to_all_uneven", attrs, operand)


OP = Op(
    "all_to_all_uneven",
    summary="Member q's rows for member p, in parts of any size along axis 0, become member p's part q.",
    domain=programs(),
    call=calls,
    shares=tuple(
        clause
        for clause in COLLECTIVE
        if clause.id not in ("collective.C16", "collective.C26", "collective.C27", "collective.C29")
    ),
    clauses=(
        value(
            "all_to_all_uneven.C1",
            "Each block is cut along axis 0 into a part for each member, part q of as many rows as entry "
            "q of its send sizes says; the member at position p receives all parts p, concatenated in "
            "member order.",
            "torch.inductor.comm_lowering: _all_to_all_single",
        ),
        value(
            "all_to_all_uneven.C2",
            "Parts of different sizes are legal.",
            "torch.inductor.comm_lowering: _all_to_all_single",
            uneven,
        ),
        value(
            "all_to_all_uneven.C3",
            "A part without rows is legal.",
            "torch.inductor.comm_lowering: _all_to_all_single",
            sends_nothing,
        ),
        rejection(
            "all_to_all_uneven.C4",
            "Send or receive sizes that do not give, for every member, one count of at least 0 for each member are "
            "rejected.",
            "torch.distributed: all_to_all_single",
        ),
        rejection(
            "all_to_all_uneven.C5",
            "Receive sizes are rejected where entry q of a member's is not the number of rows that the "
            "member at position q sends to it.",
            "ours",
            requirement="should",
        ),
        rejection(
            "all_to_all_uneven.C6",
            "Send sizes whose sum is not the number of rows of the block are rejected, and so is a block without axes.",
            "torch.distributed: all_to_all_single",
        ),
    ),
    aliases={
        "torch": ("distributed.all_to_all_single", "_functional_collectives.all_to_all_single"),
        "mpi": ("MPI_Alltoallv",),
    },
    examples=(
        Example(
            "torch.inductor.comm_lowering: _all_to_all_single",
            "int32",
            {"sends": ((1, 2), (0, 1)), "receives": ((1, 0), (2, 1))},
            [[1, 2, 3], [4]],
            [[1], [2, 3, 4]],
        ),
    ),
)
