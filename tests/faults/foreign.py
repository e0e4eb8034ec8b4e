"""What files name: backends to start, modules to import, files elsewhere."""

from __future__ import annotations

from typing import Final

from tests.faults.fault import Fault, Table

TERMS: Final = "--issue https://a.example/1 --owner Ann --expiry 2999-01-01"
MEANT: Final = "say with -b NAME which backend is meant"

ROWS: Final = (
    ("run --failed out", 2, MEANT),
    ("reproduce out", 2, MEANT),
    ("reproduce out/report.json", 2, MEANT),
    ("reproduce out -b jax", None, ""),
    (f"known out -o known.json {TERMS}", None, ""),
    ("report out", None, ""),
    ("run --resume -o out -b reference --op broadcast --suite collectives --examples 5 --in-process", 2, "another run"),
    ("merge slice -o merged", 2, "what a file alone names is not started"),
    ("merge slice -b jax -o merged", 2, "jax"),
)

TABLE: Final = Table(
    "A backend that a file alone names",
    "A log, a slice or a report was handed in that names `exec:touch ran` or a class of the folder. Nothing is started "
    "and nothing imported, whatever else is seen.",
    tuple(
        Fault(f"`conformance {words}`", f"Status {status}, *{says}*" if says else "no process", (words, status, says))
        for words, status, says in ROWS
    ),
)
