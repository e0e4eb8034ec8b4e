"""What a certificate's verifier recomputes is the same in every process, whatever order its sets have there."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import hashlib
from conformance.certificate.case_list import case_digest, listed, of_profile, ListPlace
from conformance.certificate.disguise import disguised
from conformance.certificate.profiles import PROFILES
from conformance.runner.records.origin import Origin
found, mixed = hashlib.sha256(repr([str(one) for one in of_profile(PROFILES["core"], {"all_reduce": {}})]).encode()), 0
for number in range(400):
    one = listed(ListPlace(0, Origin("collectives", "all_reduce", 3, number, claimed=True)), {"all_reduce": {}}).one
    if one is None or all(len({block.dtype for block in each.blocks}) == 1 for each in one.case.inputs.values()):
        continue
    mixed += 1
    other = disguised(one, 5, {"all_reduce": {}})
    found.update(b"-" if other is None else case_digest(other.case).encode())
print(mixed > 5, found.hexdigest())
"""


def test_ranks_of_several_dtypes_are_disguised_alike_in_every_process() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1
    assert found.pop().startswith("True ")
