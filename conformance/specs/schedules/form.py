"""What a schedule must be to be judged at all; whoever reads one refuses what breaks these."""

from __future__ import annotations

from conformance.judging.schedule_clause import FormClause

FORM = (
    FormClause("form.C1", "No two items, buffers, nodes or started handles have one name.", "004"),
    FormClause("form.C2", "Every buffer that is used is declared.", "003"),
    FormClause(
        "form.C3", "Every other name that is used is declared: devices, dtypes, variables, nodes, items.", "003"
    ),
    FormClause("form.C4", "What is waited for was started before.", "002"),
    FormClause("form.C5", "The target of an assign is a buffer or a view of one.", "004"),
    FormClause("form.C6", "Nothing needs itself: items, nodes, functions and bases of buffers have an order.", "004"),
    FormClause("form.C7", "All buffers of a kernel are on its device, or on those of its collective.", "003"),
    FormClause("form.C8", "Sizes, ranges, maps and views fit the buffers they speak of.", "003"),
    FormClause(
        "form.C9",
        "A collective has distinct participants, and parts, or accesses for those who read and write in its operation.",
        "000",
    ),
    FormClause("form.C10", "A node fits its sources, its argument, its dtype and its shape.", "003"),
    FormClause(
        "form.C11",
        "An instruction takes earlier ones, of dtypes that it takes, and accesses over the same points.",
        "004",
    ),
)
