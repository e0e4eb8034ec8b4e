"""``python -m conformance.qualification.auto.measure DIR…``: sum up where automatic mutants died.

Each folder is one of ``conformance qualify --auto N --only auto --every-kill -o DIR``. It writes ``power.json`` beside
``runner/coverage/power.py``: for each family how many mutants could die, and of each that did the first draw of every
suite and operation that kills it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from conformance.qualification.auto.outcome import Row
from conformance.qualification.rows import AUTO, Head, rows_in
from conformance.runner.coverage.power import FILE, Measured


def measured(parts: Sequence[tuple[Head, Sequence[Row]]]) -> Measured:
    """Return what rows of complete kills come to: equivalent and void mutants are left out.

    Raise ``ValueError`` where not all are of one number of examples, or a folder has not all of its rows.
    """
    for head, rows in parts:
        # Who dies has a row before who lives, so that a part of the rows flatters.
        if head.mutants != f"auto {len(rows)}":
            raise ValueError(
                f"seed {head.seed} has {len(rows)} rows of {head.mutants.removeprefix('auto ')}: --resume it"
            )
    examples = {head.examples for head, _ in parts}
    if len(examples) != 1:
        raise ValueError(f"measured with {' and '.join(map(str, sorted(examples)))} examples: take one number of them")
    families: dict[str, list[dict[str, int]]] = {}
    for row in (row for _, rows in parts for row in rows):
        if row.fate not in ("equivalent", "void"):
            kills = {f"{kill.suite} {kill.op}".strip(): kill.index for kill in row.kills}
            families.setdefault(row.family, []).append(kills)
    seeds = tuple(sorted({head.seed for head, _ in parts}))
    made = "; ".join(f"qualify --{head.mutants} --only auto --seed {head.seed}" for head, _ in parts)
    return Measured(made=made, seeds=seeds, examples=examples.pop(), families=families)


def main(folders: Sequence[str]) -> None:
    """Sum up the rows of the folders and write the file."""
    found = measured([rows_in(Path(folder), Row, AUTO) for folder in folders])
    Path(FILE).write_bytes(msgspec.json.encode(found) + b"\n")


if __name__ == "__main__":
    main(sys.argv[1:])
