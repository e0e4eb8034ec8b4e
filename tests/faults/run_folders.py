"""What a judged process does to the folder of the run that judges it."""

from __future__ import annotations

from typing import Final

from tests.faults.fault import Fault, Table

CHANGED: Final = "Status 1, *run.jsonl was changed while the run went on*"

FORGED: Final = (
    ("writes *passed* for *failed* into every file of the run, and into all that its ancestors have open", "files"),
    ("takes the folder away as it ends", "removed"),
    ("puts a footer of its own behind the log", "footer"),
    ("leaves an orphan that writes *conformant* into a badge once the run is over", "orphan"),
)
"""Of a backend whose answers are zeros."""

TAKEN: Final = (
    ("takes the folder away", "the folder is gone"),
    ("puts a file in the place of the folder", "a file in its place"),
    ("puts a file in the place of the folder of cases", "a file below"),
    ("puts folders in the place of log, page and badge", "folders in the place of its files"),
)

PUT: Final = (
    ("writes a page of its own, puts a pipe and a folder in the place of report and badge, and makes the log a hole of "
     "40 GiB", "os.truncate(out / 'run.jsonl', 40 << 30)"),
    ("does so, and puts a folder in the place of the log",
     "(out / 'run.jsonl').unlink(); (out / 'run.jsonl' / 'a').mkdir(parents=True)"),
)  # fmt: skip

ZEROS: Final = tuple(
    Fault(f"A backend of zeros {done}.", "Status 1, nothing is left" if how == "orphan" else CHANGED, (how,))
    for done, how in FORGED
)
FOLDERS: Final = tuple(Fault(f"A backend of zeros {done}, and goes on.", CHANGED, (how,)) for done, how in TAKEN)
FULL: Final = Fault("The disk takes nothing more.", "Status 1, *could not be written*")
PLACES: Final = tuple(Fault(f"As it ends, a backend {done}.", CHANGED, (how,)) for done, how in PUT)
SLICE: Final = Fault(
    "With `--jobs`, a process that a backend left rewrites the logs of slices that have ended.",
    "Status 1, *what its slice wrote counts*",
)

TABLE: Final = Table(
    "The folder of a run that goes on",
    "What the run came to is said, page and log are written as they should be, and what was done is named.",
    (*ZEROS, *FOLDERS, FULL, *PLACES, SLICE),
)
