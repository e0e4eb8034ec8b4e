"""A run that ends early has asked of every claimed operation, and says what of the claims it left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.backend.promises import Promises
from conformance.runner.explore import explore
from conformance.runner.offering import draw_and_offer
from conformance.runner.plan import Plan
from conformance.runner.records.exercised import Exercised
from conformance.runner.records.record import CaseRecord
from conformance.runner.worker.in_process import InProcess
from conformance.specs import OPS, SUITES

LIMITS = {
    "dtype": ["int32", "float32", "float64"], "calls": ["legal"], "meeting": ["world"], "operands": ["one"],
    "ndim": ["1", "2"], "layout": ["contiguous"], "world": ["2", "3", "4"], "ranks": ["alike"],
}  # fmt: skip
CLAIMS: Mapping[str, Any] = {
    "all_reduce": {**LIMITS, "op": ["sum", "max"]},
    "broadcast": LIMITS,
    "permute": LIMITS,
    "reduce_scatter": {**LIMITS, "op": ["sum"], "tiled": ["true"]},
}


class Narrow(Reference):
    @property
    def claims(self) -> Mapping[str, Mapping[str, list[str]]]:
        return CLAIMS


@dataclass
class Budget:
    """Is spent after so many cases were judged, as a slow backend's time is."""

    cases: int
    records: list[CaseRecord] = field(default_factory=list)

    def late(self) -> bool:
        return sum(record.outcome == "passed" for record in self.records) >= self.cases


def cut(claimed: Any, cases: int) -> Budget:
    budget = Budget(cases)
    backend = BackendRun("it", InProcess(BackendSpec("it", ()), backend=claimed), budget.records.append)
    draw_and_offer(Plan(tuple(OPS), examples=300, suites=tuple(SUITES)), [backend], budget.late)
    return budget


def test_of_the_first_sixty_cases_each_operation_has_its_share_and_few_others_are_drawn() -> None:
    records = cut(Narrow(), 60).records
    asked = Counter(record.op for record in records if record.outcome == "passed")
    assert asked.keys() == CLAIMS.keys()
    assert min(asked.values()) >= 6
    outside = [record for record in records if record.outcome == "unsupported"]
    assert {record.op for record in outside} <= CLAIMS.keys()
    assert 1 <= len(outside) <= 66  # a tenth more than what is judged


def test_the_run_says_what_its_claims_promise_and_no_case_showed(tmp_path: Path) -> None:
    plan = Plan(("broadcast", "scan"), examples=12, suites=("collectives",))
    claims = {
        "broadcast": {"dtype": ["int32", "float4_e2m1fn"], "tiled": ["true"]},
        "scan": {"groups": []},
        "gather": {},
    }

    class Claiming(Reference):
        @property
        def claims(self) -> Any:
            return claims

    result = explore(plan, {"it": InProcess(BackendSpec("it", ()), backend=Claiming())}, tmp_path)
    # The suite draws no such floats, broadcast has no attribute ``tiled``, and the run is not about gather.
    assert result.exercised == {
        "it": Exercised(promised=4, missing=("broadcast with dtype float4_e2m1fn", "scan at all"))
    }
    assert "2 of the 4 operations and words that it claims were exercised (50%)" in str(result.exercised["it"])


def test_a_word_counts_for_the_operation_that_has_it_alone() -> None:
    promises = Promises({"broadcast": {"dtype": ["int8"]}, "gather": {"dtype": ["int8"]}})
    met = promises.met({"broadcast": {"dtype": frozenset({"int8", "bool"})}, "scan": {"dtype": frozenset({"int8"})}})
    assert promises.exercised(met, ["broadcast", "gather"]).missing == ("gather at all", "gather with dtype int8")


def test_numbers_that_claims_list_are_one_promise() -> None:
    promises = Promises({"broadcast": {"world": [str(size) for size in range(1, 65)], "ndim": ["0", "1"]}})
    assert promises.exercised((), ["broadcast"]).missing == (
        "broadcast at all", "broadcast with world of any size", "broadcast with ndim of any size",
    )  # fmt: skip
    met = promises.met({"broadcast": {"world": frozenset({"5"})}})
    assert promises.exercised(met, ["broadcast"]).missing == ("broadcast with ndim of any size",)


def test_what_is_promised_has_the_same_number_in_whatever_order_claims_name_it() -> None:
    words = {"gather": {"dtype": ["int8", "bool"]}, "broadcast": {}}
    turned = {"broadcast": {}, "gather": {"dtype": ["bool", "int8"]}}
    seen = {"gather": {"dtype": frozenset({"int8"})}}
    assert Promises(words).met(seen) == Promises(turned).met(seen) == (1, 3)
