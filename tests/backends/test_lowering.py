"""A sharded program and the graph over several devices that it is lowered to have one meaning."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.backends.base import Backend, Held
from conformance.backends.lowering import exchanges, lowered, moves
from conformance.backends.lowering.lowered_cases import LoweredCases, structure
from conformance.backends.opencl import OpenCL
from conformance.backends.reference import Reference
from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.generate.domains import SHARDED
from conformance.judging.sharded.subject import sharded_meaning
from conformance.judging.sharded.verdict import judge_sharded
from conformance.reference.graph.evaluate import evaluate
from conformance.runner.draws import numbered
from conformance.specs.sharded import CLAUSES


class Lowered(Reference):
    """Evaluates the lowered graph."""

    def run_sharded(self, case: ShardedCase) -> dict[str, Held]:
        whole, answers = lowered(case)
        given = {key: worth.array for key, worth in evaluate(whole).items()}
        return {
            key: Held(answer.layout, [None if part is None else given[part] for part in answer.keys])
            for key, answer in answers.items()
        }


def test_the_graph_over_devices_gives_what_the_program_means() -> None:
    for number in range(120):
        case, _ = numbered(SHARDED, 6, number)
        verdict = judge_sharded(sharded_meaning(case), Lowered().sharded(case), CLAUSES, STANDARD)
        assert verdict.outcome == "passed", f"{number}: {verdict.detail}"


@pytest.mark.parametrize("engine", [Lowered, OpenCL])
def test_pieces_that_are_gathered_or_each_written_make_the_same_parts(
    engine: type[Backend], monkeypatch: pytest.MonkeyPatch
) -> None:
    for room in (exchanges, moves):
        monkeypatch.setattr(room, "STORED", 1)
    backend, written, gathered = engine(), 0, Counter[tuple[str, bool]]()
    for number in (12, 17, 23, 26, 27):
        case, _ = numbered(SHARDED, 6, number)
        verdict = judge_sharded(sharded_meaning(case), backend.sharded(case), CLAUSES, STANDARD)
        assert verdict.outcome == "passed", f"{number}: {verdict.detail}"
        whole = lowered(case)[0] if sharded_meaning(case).legal else case.of
        written += sum(name.startswith("joined") for name in whole.buffers)
        shapes = {node.id: node.shape for node in whole.graph.nodes}
        gathered.update(
            (str(node.arg), len({shapes[name] for name in node.of}) > 1)
            for node in whole.graph.nodes
            if node.op == "collective"
        )
    backend.close()
    assert written > 10
    assert min(gathered["gather", True], gathered["all_gather", True], gathered["gather", False]) > 2


def test_every_step_is_on_the_device_of_its_part_and_nothing_else_is_moved() -> None:
    drawn = (numbered(SHARDED, 7, number)[0] for number in range(40))
    for case in (each for each in drawn if sharded_meaning(each).legal):
        whole, _ = lowered(case)
        assert {node.device for node in whole.graph.nodes} <= {f"d{number}" for number in case.devices}
        moving = {node.op for node in whole.graph.nodes if node.op in ("copy", "collective")}
        plain = not case.homes and not case.moves
        assert not (plain and moving)


def test_a_case_of_the_same_structure_is_only_given_its_contents() -> None:
    kept, again = LoweredCases(), 0
    for number in range(30):
        case, _ = numbered(SHARDED, 6, number)
        if not sharded_meaning(case).legal:
            continue
        kept.lowered(case)
        turned = {
            name: from_array(np.flip(to_array(each)).reshape(each.shape)) for name, each in case.of.buffers.items()
        }
        writes = [
            replace(
                each,
                writes={
                    name: from_array(np.flip(to_array(one)).reshape(one.shape)) for name, one in each.writes.items()
                },
            )
            for each in case.of.rounds
        ]
        other = replace(case, of=replace(case.of, buffers=turned, rounds=tuple(writes)))
        assert kept.lowered(other) == lowered(other)
        again += structure(other) == structure(case) and other != case
    assert again > 15
