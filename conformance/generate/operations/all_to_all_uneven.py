"""How all_to_all_uneven is drawn."""

from __future__ import annotations

from typing import Final

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Attr, Groups
from conformance.generate import choices
from conformance.generate.calls.call import SIZES, UNITS, Call, Drawn, great
from conformance.generate.calls.draft import EQUAL, Draft, draft

_REST: Final[choices.Choice[tuple[int, ...]]] = choices.sampled_from([(), (2,), (3,), (1, 2)])
_COUNTS: Final = {
    "any": choices.sampled_from([1, 2, 0, 3]),
    "whole": choices.sampled_from([1, 2, 3]),
    "empty": choices.just(0),
}


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
    sends = [[unit * draw(_COUNTS["whole" if long else shapes]) for _ in range(size)] for _ in range(size)]
    receives = tuple(tuple(sends[q][p] for q in range(size)) for p in range(size))
    at = {rank: p for group in drawn.rank_groups() for p, rank in enumerate(group)}
    rest = () if long else draw(_REST)
    operand = tuple((sum(sends[at.get(rank, 0) % size]), *rest) for rank in range(drawn.world))
    attrs: dict[str, Attr] = {"sends": tuple(map(tuple, sends)), "receives": receives}
    return drawn, Call("all_to_all_uneven", attrs, operand)
