"""What a command was told to write a file to, and what is in its place."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from tests.faults.fault import Fault, Table

PLACES: Final = (
    ("a pipe that nobody reads", os.mkfifo, "nobody reads it"),
    ("a full device", lambda path: path.symlink_to("/dev/full"), "No space left on device"),
    ("a folder", Path.mkdir, "Is a directory"),
    ("a link to nothing in no folder", lambda path: path.symlink_to("no/such"), "No such file or directory"),
)

WAYS: Final = (
    ("`conformance diff -o FILE`", ("diff", "out", "out", "-o", "file")),
    ("`conformance run`, for GITHUB_STEP_SUMMARY", ("run", "-b", "reference", "--op", "broadcast", "--suite",
     "collectives", "--examples", "1", "--in-process", "-o", "new")),
)  # fmt: skip

TABLE: Final = Table(
    "A file to write that is none",
    "The command ends and names it with the reason. A run says what it came to first, and fails.",
    tuple(
        Fault(f"{way}: it is {place}.", f"*{seen}*", (words, make, seen))
        for way, words in WAYS
        for place, make, seen in PLACES
    ),
)
