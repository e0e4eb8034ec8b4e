"""Short expressions meet each kind of placement with each kind of step."""

from __future__ import annotations

from collections import Counter

from conformance.generate.sharded.expressions import several
from conformance.runner.draws import numbered


def test_pending_folds_are_used_by_what_is_linear_and_what_is_not() -> None:
    met: Counter[str] = Counter()
    for number in range(200):
        case, _ = numbered(several(), 0, number)
        late = {name for name, where in case.moves.items() if where.partial}
        for node in case.of.graph.nodes:
            met[str(node.arg) if node.op == "alu" else node.op] += bool(late & {*node.of})
        met.update(fold for name in late for fold in set(case.moves[name].partial.values()))
    wanted = ("mul", "add", "neg", "max", "cast", "copy", "assign", "contig", "pad", "permute", "reduce", "min", "or")
    assert {name: met[name] for name in wanted if met[name] < 3} == {}


def test_storage_in_parts_along_two_mesh_axes_and_on_turned_devices_is_written() -> None:
    met: Counter[str] = Counter()
    for number in range(60):
        case, _ = numbered(several(), 0, number)
        written = [name for each in case.of.rounds for name in each.writes]
        splits = [split for name in written if name in case.homes for split in case.homes[name].splits]
        met["turned"] += bool(written) and list(case.devices) != sorted(case.devices)
        met["two axes"] += any(len(split.along) == 2 for split in splits)
    assert min(met["turned"], met["two axes"]) >= 8, met
