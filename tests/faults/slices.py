"""Slices of a run: files that somebody changed, mixed up, or took from another run."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from tests.faults.fault import Fault, Table

Change = Callable[[Path, Path], object]


def note(**changes: Any) -> Change:
    """Return what changes fields of the first slice's note."""

    def change(first: Path, second: Path) -> None:
        said = {**msgspec.json.decode((first / "slice.json").read_bytes()), **changes}
        (first / "slice.json").write_bytes(msgspec.json.encode(said))

    return change


def log(old: bytes, new: bytes) -> Change:
    """Return what puts ``new`` for ``old``, once, in the first slice's log."""

    def change(first: Path, second: Path) -> None:
        content = (first / "run.jsonl").read_bytes()
        assert old in content
        (first / "run.jsonl").write_bytes(content.replace(old, new, 1))

    return change


def without_footer(first: Path, second: Path) -> None:
    lines = (first / "run.jsonl").read_bytes().splitlines(keepends=True)
    (first / "run.jsonl").write_bytes(b"".join(lines[:-1]))


def copied(name: str) -> Change:
    return lambda first, second: shutil.copy(second / name, first)


ROWS: Final[tuple[tuple[str, Change, str], ...]] = (
    ("says that it is all of the run", note(of=1), "of another plan"),
    ("says that it is nothing of nothing", note(at=0, of=0), "is no note of a slice"),
    ("says that it is the third of two", note(at=3), "there is no slice 3 of 2"),
    ("says that it is one of a trillion", note(of=10**12), "is no note of a slice"),
    ("says that it is of another plan", note(plan="0" * 64), "of another plan"),
    ("has a note that is no object", lambda first, second: (first / "slice.json").write_text("[]"), "is no note of a"),
    ("has a note of brackets", lambda first, second: (first / "slice.json").write_text("[" * 100_000), "is no note of"),
    ("excuses a case that it does not have", note(refused={"reference": ["a"]}), "refused 'a', and no record"),
    ("excuses a backend that it does not have", note(refused={"other": ["a"]}), "says that 'other' refused 'a'"),
    ("has the note of another slice", copied("slice.json"), "are both slice 2 of 2"),
    ("has the log of another slice", copied("run.jsonl"), "is of slice 1/2, and the log of '2/2'"),
    ("has the log of a run that is no slice", log(b'"slice":"1/2"', b'"part":"1/2"'), "the log of 'no slice'"),
    ("has a log of another seed", log(b'"seed":0', b'"seed":1'), "is of another plan than the log"),
    ("has a log of more examples", log(b'"examples":20', b'"examples":2000'), "is of another plan than the log"),
    ("has a log of an unknown operation", log(b'"ops":["broadcast"]', b'"ops":["x"]'), "'x' is no operation"),
    ("has a log of an unknown profile", log(b'"profile":"default"', b'"profile":"mine"'), "'mine' is no profile"),
    ("has a log with a limit that is no time", log(b'"20 s"', b'"soon"'), "its case limit is no length of time"),
    ("has a log without a footer", without_footer, "never ended"),
    ("lacks records that its footer counts", log(b'{"passed":', b'{"passed":9'),
     "records are missing"),
    ("has records of draws of another slice", log(b"collectives/broadcast/0/", b"collectives/broadcast/0/9"),
     "is of nothing that slice 1 of 2 draws"),
    ("has records of another operation", log(b"collectives/broadcast/0/", b"collectives/elsewhere/0/"),
     "is of nothing that slice 1 of 2 draws"),
    ("has records of another specification", log(b'"spec_digest":"', b'"spec_digest":"0'), "another spec digest"),
    ("has records of a backend that its header does not name", log(b'{"type":"case","backend":"reference"',
     b'{"type":"case","backend":"us"'), "records are missing"),
)  # fmt: skip

TABLE: Final = Table(
    "Slices of a run",
    "`conformance merge SLICE SLICE` ends with 2 and one line that names the slice; nothing is written.",
    tuple(Fault(f"The first of two {done}.", f"*{says}*", (change, says)) for done, change, says in ROWS),
)
