"""Smoke judges an adapter: what the framework that it adapts raises on some plain case is set aside, and told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.cases.case import Case, case_id
from conformance.runner.smoke import smoke_cases
from conformance.specs import OPS
from tests.cli.conftest import Conformance

ADAPTER = """
from conformance.backends.attribution import framework
from conformance.backends.base import Backend

def broadcast(blocks, root, groups):  # of the framework
    if FAILS:
        raise RuntimeError("not in this build")
    return [blocks[group[root]] for rank in range(len(blocks)) for group in groups if rank in group]

class Adapter(Backend):
    adapts = ADAPTS
    claims = {"broadcast": {"calls": ["legal"]}}
    def broadcast(self, blocks, *, root, groups):
        LINE
        with framework():
            return broadcast(blocks, root, groups)
"""

GROUPS = "len(groups) > 1"


@pytest.mark.parametrize(
    ("adapts", "fails", "line", "status"),
    [
        ("True", GROUPS, "pass", 0),
        ("False", GROUPS, "pass", 1),  # who adapts nothing is what is judged
        ("True", "True", "pass", 1),  # an operation of which nothing passes
        ("True", "False", f"assert not {GROUPS}", 3),  # a line of the adapter
        ("True", "False", f"blocks = blocks[::-1] if {GROUPS} else blocks", 1),  # a wrong value is nobody's exception
    ],
)
def test_what_the_framework_raises_is_no_fault_of_its_adapter(
    conformance: Conformance,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    adapts: str,
    fails: str,
    line: str,
    status: int,
) -> None:
    source = ADAPTER.replace("ADAPTS", adapts).replace("FAILS", fails).replace("LINE", line)
    name = f"adapter{abs(hash(source))}"
    (tmp_path / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    ended = conformance("smoke", "-b", f"{name}:Adapter", "--in-process")
    assert ended.status == status, ended.out
    assert ("the framework itself raised: rank 0 raised RuntimeError: not in this build" in ended.out) == (status == 0)
    found = json.loads(conformance("smoke", "-b", f"{name}:Adapter", "--in-process", "--json").out)
    assert (bool(found["set_aside"].get(f"{name}:Adapter")), found["status"]) == (status == 0, status)


def test_what_breaks_advice_alone_is_told_and_fails_nothing(conformance: Conformance, tmp_path: Path) -> None:
    (tmp_path / "any_of_bools.py").write_text("""
from conformance.backends.reference import Reference

class Backend(Reference):
    claims = {"all_reduce": {"dtype": ["bool"], "op": ["sum"]}}
    def all_reduce(self, blocks, **more):
        return [made.astype(bool) for made in super().all_reduce(blocks, **more)]
""")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        ended = conformance("smoke", "-b", "any_of_bools:Backend", "--in-process")
    assert "cases break what only should be (reduction.C11), which fails nothing" in ended.out
    assert (ended.status, "passed; next" in ended.out) == (0, True)


def test_every_operation_has_plain_cases_in_which_nobody_sends_to_itself() -> None:
    own = dict.fromkeys(OPS, 0)
    for case in smoke_cases():
        drawn = {step.op for step in case.program.steps}
        for name in drawn:
            own[name] += not _to_itself(case)
    assert min(own.values()) > 0
    assert len({case_id(case) for case in smoke_cases()}) == len(smoke_cases())


def _to_itself(case: Case) -> bool:
    return any(pair[0] == pair[1] for step in case.program.steps for pair in step.attrs.get("pairs", ()))  # type: ignore[index,union-attr]
