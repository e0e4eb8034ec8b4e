"""A new operation is three files: no table besides has to know it before a run may draw, judge and certify it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import conformance

MEANING = '''
"""crop: a fold of which each member drops its first rows."""
from __future__ import annotations
from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.groups import equal_sizes, partition
from conformance.reference.reductions import check, folded
from conformance.reference.rejection import Rejected

@operation("reduce")
def crop(blocks: list[Array], *, op: str, past: int, factor: float = 1.0, groups: Groups) -> list[Array]:
    """Return the reduction without its first rows."""
    check(str(blocks[0].dtype), op)
    if blocks[0].ndim < 1 or not 0 <= past <= min(blocks[0].shape[0], equal_sizes(partition(groups, len(blocks)))):
        raise Rejected("crop.C2", "past")
    return folded(terms(blocks, past=past, groups=groups), op, factor)

def terms(blocks, *, past, groups):
    """Return what each rank folds."""
    group_of = {rank: group for group in partition(groups, len(blocks)) for rank in group}
    return [[blocks[member][past:] for member in group_of[rank]] for rank in range(len(blocks))]
'''

SPEC = '''
"""crop."""
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.families.reduction import REDUCTION
from conformance.specs.op import FOLDED, FOLDS, Example, Op, Result, rejection, value

OP = Op("crop", summary="Crop.", shares=COLLECTIVE + REDUCTION,
    clauses=(value("crop.C1", "Each drops its first rows.", "ours"), rejection("crop.C2", "Not so many.", "ours")),
    results=(Result("", "(shape[0] - past,) + shape[1:]", FOLDED, ("crop.C1", *FOLDS)),),
    arguments={"past": ("crop.C1", "crop.C2")},
    examples=(Example("ours", "int32", {"op": "sum", "past": PAST}, [[1] * 9] * 8, [[8] * (9 - PAST)] * 8),),
)
'''

DRAWING = '''
"""How crop is drawn."""
from conformance.generate.calls.call import alike
from conformance.generate.calls.reductions import reduction

def calls(draw, drawn, shapes):
    """Draw a call of it, now and then of a member with fewer rows where it stands alone."""
    drawn, attrs, values = reduction(draw, drawn, "crop")
    past = draw.one((1, 0, drawn.group_size + 2)) if drawn.lone else 1
    return alike(drawn, "crop", (drawn.group_size + 1, 2), values, **attrs, past=past)
'''


@pytest.mark.parametrize("past", [1, 8])
def test_an_operation_that_no_table_lists_is_drawn_and_certified(past: int, tmp_path: Path) -> None:
    # Calls are those of the example where it fits, with 1; with 8, which is too many for few members, the domain's.
    shutil.copytree(Path(conformance.__file__).parent, tmp_path / "conformance")
    (tmp_path / "conformance/reference/operations/crop.py").write_text(MEANING)
    (tmp_path / "conformance/specs/operations/crop.py").write_text(SPEC.replace("PAST", str(past)))
    (tmp_path / "conformance/generate/operations/crop.py").write_text(DRAWING)
    suites = "collectives,aliasing,async,dtypes,numerics,liveness,long"
    command = f"-m conformance run -b reference --op crop --suite {suites} --examples 60 -o run"
    ran = subprocess.run(
        [sys.executable, *command.split()],
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert "no must clause fails" in ran.stdout + ran.stderr
