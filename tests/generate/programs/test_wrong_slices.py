"""What is barely illegal about a ragged exchange: each way is refused, by the clause that is about it."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from conformance.generate.calls.wrong_slices import MISUSES
from conformance.generate.choices import Draw
from conformance.reference.operations.ragged_all_to_all import ragged_all_to_all
from conformance.reference.rejection import Rejected
from conformance.runner.draws import Numbers
from conformance.specs.operations.ragged_all_to_all import TABLES


@pytest.mark.parametrize(
    ("misuse", "clause"),
    [
        ("no integers", "C6"),
        ("other rank", "C7"),
        ("no slices", "C7"),
        ("other length", "C8"),
        ("other sizes", "C10"),
        ("negative sizes", "C11"),
        ("beyond", "C11"),
        ("all beyond", "C11"),
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_each_wrong_table_is_refused_by_its_clause(misuse: str, clause: str, seed: int) -> None:
    tables = {name: np.ones((2, 2), np.int32) for name in TABLES}
    tables["input_offsets"][:] = tables["output_offsets"][:] = [0, 1]
    MISUSES[misuse](Draw(Numbers(Random(seed))), tables, (2, 4))
    blocks = [np.zeros(2, np.int32), np.ones(2, np.int32)], [np.zeros(4, np.int32), np.zeros(4, np.int32)]
    with pytest.raises(Rejected) as refused:
        ragged_all_to_all(*blocks, *(list(tables[name]) for name in TABLES), groups=((0, 1),))
    assert refused.value.clause == f"ragged_all_to_all.{clause}"
