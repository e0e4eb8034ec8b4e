"""How the suite of all operations is drawn: chains and the operations' own domains, rows, small calls, and mistakes."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from conformance.cases.case import Case
from conformance.generate.calls.draft import PARTITIONS, draft
from conformance.generate.calls.mistakes import mistaken
from conformance.generate.choices import Choice, Draw, composite
from conformance.generate.covering import rows
from conformance.generate.deal import dealing
from conformance.generate.operations import DOMAINS as OF_OPERATIONS
from conformance.generate.programs.chains import with_chains
from conformance.generate.small_calls import DRAWN_SMALL, small_call
from conformance.generate.tables.calls import CALLS, SECOND
from conformance.generate.tables.programs import TABLE_OF_PROGRAMS

SUITE: Final = "collectives"


@composite
def _zeros_of_both_signs(draw: Draw) -> Case:
    """Draw an arg_reduce whose extremes are zeros of both signs: ``ArgReduceTellsZerosApart`` stands for the bug."""
    drawn = replace(draft(draw, groups=PARTITIONS), dtype=draw.one(("float32", "float64", "float16")))
    op = draw.one(("max", "min"))
    return drawn.case("arg_reduce", shape=(12,), attrs={"op": op}, values=f"{op}_zeros")


def _rows(op: str) -> Choice[Case] | None:
    """Return the rows of the table of programs that end in an operation, as what is recorded under it does."""
    own, second = (tuple(call for call in listed if call.op == op) for listed in (CALLS, SECOND))
    if not own:
        return None
    return rows(TABLE_OF_PROGRAMS.limited(op, call=own, then=(None, *second)))


DOMAINS: Final = {
    op: dealing(
        f"{SUITE} {op}",
        with_chains(op, domain),
        row=_rows(op),
        call=None if op in DRAWN_SMALL else small_call(op),
        motif=_zeros_of_both_signs() if op == "arg_reduce" else None,
        illegal=mistaken(op, domain),
    )
    for op, domain in OF_OPERATIONS.items()
}
"""Of each operation of the suite what its cases are drawn from."""

SHARE: Final = 1.0
"""The part of a run's examples that is drawn for each operation of the suite."""
