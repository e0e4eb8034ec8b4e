"""barrier: no member goes on before every member of its group has come."""

from __future__ import annotations

from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.reference.groups import partition


@operation("query", readers="nobody", writers="nobody", groups="any")
def barrier(*, groups: Groups) -> None:
    """Return nothing: steps run one after the other on all ranks, so every rank has come before any goes on."""
    partition(groups, sum(len(group) for group in groups))
