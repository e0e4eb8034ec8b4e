"""``python -m conformance.qualification.auto.measure DIR…``: sum up where automatic mutants died.

Each folder is one of ``conformance qualify --auto N --only auto --every-kill -o DIR``. It writes ``power.json`` beside
``runner/coverage/power.py``: for each family how many mutants could die, and of each that did the first draw of every
suite and operation that kills it.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from conformance.qualification.auto.corpus import FAMILIES, sizes
from conformance.qualification.auto.outcome import Row
from conformance.qualification.row_file import AUTO, Head, rows_in
from conformance.runner.coverage.power import FILE, Measured


def measured(parts: Sequence[tuple[Head, Sequence[Row]]]) -> Measured:
    """Return what rows of complete kills come to: equivalent and void mutants are left out.

    So is a family that has not all of its rows: who dies has a row before who lives, so that a part of the rows
    flatters. Raise ``ValueError`` where a folder has no whole family, or not all are of one number of examples.
    """
    examples = {head.examples for head, _ in parts}
    if len(examples) != 1:
        raise ValueError(f"measured with {' and '.join(map(str, sorted(examples)))} examples: take one number of them")
    families: dict[str, list[dict[str, int]]] = {}
    made = []
    for head, rows in parts:
        whole = _whole(head, rows)
        made.append(f"qualify --{head.mutants} --only auto --seed {head.seed}: {', '.join(whole)}")
        for row in rows:
            if row.family in whole and row.fate not in ("equivalent", "void"):
                kills = {f"{kill.suite} {kill.op}".strip(): kill.index for kill in row.kills}
                families.setdefault(row.family, []).append(kills)
    seeds = tuple(sorted({head.seed for head, _ in parts}))
    return Measured(made="; ".join(made), seeds=seeds, examples=examples.pop(), families=families)


def _whole(head: Head, rows: Sequence[Row]) -> list[str]:
    """Return the families that have all of their rows."""
    of = sizes(int(head.mutants.removeprefix("auto ")))
    found = Counter(row.family for row in rows)
    whole = [name for name in FAMILIES if of[name] and found[name] == of[name]]
    if not whole:
        raise ValueError(
            f"seed {head.seed} has {len(rows)} rows of {sum(of.values())}, and no whole family: --resume it"
        )
    return list(whole)


def main(folders: Sequence[str]) -> None:
    """Sum up the rows of the folders and write the file."""
    found = measured([rows_in(Path(folder), Row, AUTO) for folder in folders])
    Path(FILE).write_bytes(msgspec.json.encode(found) + b"\n")


if __name__ == "__main__":
    main(sys.argv[1:])
