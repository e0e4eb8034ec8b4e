"""The family judge: frozen observations, changed judges, and what becomes of them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from conformance.backends.reference import Reference
from conformance.cases.case import Case, Operand, case_id
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import Tensor
from conformance.qualification.auto.source.changes import changes
from conformance.qualification.auto.source.shadow import source_of
from conformance.qualification.deck.candidate import CampaignError, kept
from conformance.qualification.frozen.asked import answers, backend
from conformance.qualification.frozen.campaign import _told
from conformance.qualification.frozen.observation import FrozenObservation
from conformance.qualification.frozen.verdicts import FrozenVerdict, changed_judge
from conformance.qualification.mutants.broadcast import BroadcastTakesAWorldRank
from conformance.runner.dialects import trial
from conformance.vectors.stored import form_of, written

COMPARE = "conformance.judging.compare"


def broadcast() -> Case:
    step = Step(op="broadcast", inputs=("x",), outputs=("y",), axes=("i",), attrs={"root": 1}, groups=((2, 0), (1, 3)))
    blocks = tuple(Tensor(dtype="int8", shape=(1,), bits=f"0{rank}") for rank in range(4))
    operand = Operand(blocks=blocks, layouts=("contiguous",) * 4)
    return Case(program=Program(mesh=(Axis("i", 4),), steps=(step,), results=("y",)), inputs={"x": operand})


def frozen(by: type[Reference], *, right: bool) -> FrozenObservation:
    case, asked = broadcast(), backend(by)
    one = trial(case)
    assert one is not None
    found = answers(one, asked)
    assert found is not None
    return FrozenObservation(
        name=case_id(case), by=by.__name__, right=right, suite="collectives", op="broadcast", form=form_of(case),
        text=written(case), ready=asked.ready, answers=found,
    )  # fmt: skip


RIGHT, WRONG = frozen(Reference, right=True), frozen(BroadcastTakesAWorldRank, right=False)


def unchanged() -> tuple[FrozenVerdict, FrozenVerdict]:
    with changed_judge(None) as (judge, _):
        return judge.say(RIGHT), judge.say(WRONG)


def test_the_unchanged_judge_holds_what_is_right_and_breaks_what_is_wrong() -> None:
    right, wrong = unchanged()
    assert (right.outcome, sorted(right.broken)) == ("passed", [])
    assert wrong.outcome == "failed"
    assert "broadcast.C2" in wrong.broken


@pytest.mark.parametrize(
    ("function", "made", "frozen", "how"),
    [
        ("differences", "if False:", WRONG, "holds"),
        ("missing", "got is not None", RIGHT, "refuses"),
    ],
)
def test_a_changed_judge_dies_of_what_it_says(function: str, made: str, frozen: FrozenObservation, how: str) -> None:
    every = [each for each in changes(COMPARE, source_of(COMPARE)) if each.function == function]
    change = next(each for each in every[::-1] if ast.unparse(ast.fix_missing_locations(each.made)).startswith(made))
    known = unchanged()[0 if frozen is RIGHT else 1]
    with changed_judge(change) as (judge, came):
        told = _told(frozen, judge.say(frozen), known)
        assert came()
    assert told is not None
    assert told[1] == how


def test_a_cut_file_of_observations_is_named(tmp_path: Path) -> None:
    path = tmp_path / "reference-0-250.zlib"
    path.write_bytes(b"x\x9c cut")
    with pytest.raises(CampaignError, match=r"reference-0-250\.zlib is no part of a campaign"):
        kept(path, list[FrozenObservation])
