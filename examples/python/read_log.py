"""A dashboard's first lines: what a run log says, read with the standard library alone.

    python read_log.py RUN_FOLDER [CLAUSE]

A log has one JSON object a line: a header, a line a case, a footer. Without a footer the run was cut, and a dashboard
shows no verdict of it. With a clause only its failures are listed. Of two records of one case and backend the later one
holds.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from pathlib import Path


def records(folder: Path):
    """Yield the objects of the log in ``folder``; a long log is compressed when its run has ended."""
    plain = folder / "run.jsonl"
    with plain.open("rb") if plain.exists() else gzip.open(folder / "run.jsonl.gz", "rb") as lines:
        yield from map(json.loads, lines)


folder, *clauses = sys.argv[1:]
header, footer, last = None, None, {}
for record in records(Path(folder)):
    if record["type"] == "header":
        header = record
    elif record["type"] == "footer":
        footer = record
    elif record["type"] == "case":
        last[record["backend"], record["case"]] = record

failures = Counter(
    (record["backend"], record["op"], record["blame"])
    for record in last.values()
    if "blame" in record and (not clauses or record["blame"] in clauses)
)
print("specification", header["environment"].get("specification version", "unknown"), "seed", header["seed"])
if footer is None:
    sys.exit("no footer: the run was cut, and nothing is shown of it")
for backend, counts in footer["counts"].items():
    print(backend, ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
for (backend, op, clause), count in failures.most_common():
    print(f"{backend}: {op} {clause}: {count}")
