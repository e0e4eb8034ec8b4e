"""``python -m conformance.qualification.auto.measure N SEED…``: measure where automatic mutants die.

It writes ``power.json`` beside ``runner/coverage/power.py``: for each family how many mutants could die, and of
each that did the first draw of every suite and operation that kills it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from conformance.qualification.auto.auto import Profile, Row, qualify_auto
from conformance.runner.coverage.power import FILE, Measured
from conformance.runner.plan import EXAMPLES


def measured(rows: list[Row], seeds: tuple[int, ...]) -> Measured:
    """Return what rows of complete kills come to: equivalent and void mutants are left out."""
    families: dict[str, list[dict[str, int]]] = {}
    for row in rows:
        if row.fate not in ("equivalent", "void"):
            kills = {f"{kill.suite} {kill.op}".strip(): kill.index for kill in row.kills}
            families.setdefault(row.family, []).append(kills)
    return Measured(seeds=seeds, examples=EXAMPLES, families=families)


def main(count: int, seeds: tuple[int, ...]) -> None:
    """Measure ``count`` mutants of each seed and write the file."""
    rows: list[Row] = []
    for seed in seeds:
        _, found = qualify_auto(count, Profile(seed, EXAMPLES), whole=True, tell=print)
        rows += found
    Path(FILE).write_bytes(msgspec.json.encode(measured(rows, seeds)) + b"\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), tuple(map(int, sys.argv[2:])))
