"""Histories that somebody made otherwise than this suite makes them: databases may have anything in them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.faults.fault import Fault, Table

ENDLESS: Final = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x FROM r"


def noise(at: int) -> Callable[[Path], None]:
    """Return what puts bytes that mean nothing in the place of a page."""

    def change(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[at : at + 4096] = b"\xa5" * 4096
        path.write_bytes(content)

    return change


def short(path: Path) -> None:
    """Cut a file in its middle."""
    os.truncate(path, path.stat().st_size // 2)


ROWS: Final[tuple[tuple[str, str | Callable[[Path], None], str], ...]] = (
    ("has noise in its second page", noise(4096), "malformed"),
    ("has noise in a page far behind", noise(40960), "malformed"),
    ("is cut in its middle", short, "malformed"),
    ("is of something else", "PRAGMA application_id = 7", "database of something else"),
    ("has a later form", "PRAGMA user_version = 99", "form 99"),
    ("has a view that never ends",
     f"DROP VIEW history_of_findings; CREATE VIEW history_of_findings AS {ENDLESS}", "'history_of_findings' is not as"),
    ("has a view that never ends in the place of a table",
     f"ALTER TABLE findings RENAME TO other; CREATE VIEW findings AS {ENDLESS}", "is not as this version makes it"),
    ("has a trigger", "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM judged; END", "it has a trigger, 't'"),
    ("has bytes for a text", "UPDATE judged SET title = x'ff'", "judged.title"),
    ("has no number where one is needed", "UPDATE runs SET seed = 'many'", "runs.seed"),
    ("has a time without a bound", "UPDATE judged SET seconds = 9e999", "judged.seconds"),
    ("describes a backend by what is no JSON", "UPDATE judged SET description = '{'", "judged.description"),
    ("describes a backend by a list", "UPDATE judged SET description = '[]'", "judged.description"),
    ("has an environment of 100,000 brackets",
     f"UPDATE runs SET environment = '{'[' * 100_000}'", "runs.environment"),
    ("names a run that is not there", "UPDATE cells SET run = 7", "names one of runs"),
    ("has findings of a backend that was not judged", "UPDATE findings SET backend = 'x'", "did not judge"),
)  # fmt: skip

TABLE: Final = Table(
    "A history",
    "`conformance history show`, `history add` and `site` end with 2 and one line that names the file and what is "
    "wrong; no page is written, and the file is as it was.",
    tuple(Fault(f"The file {done}.", f"*{says}*", (how, says)) for done, how, says in ROWS),
)
