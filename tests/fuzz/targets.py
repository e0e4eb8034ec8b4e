"""What is read, as a table: valid documents of a format, how it is written, and the commands that read it."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from conformance.cases.case_error import CaseError
from conformance.runner.dialects import load_case
from tests.fuzz import documents
from tests.fuzz.changes import written
from tests.fuzz.documents import Files

FOLDER: Final = "{}"
"""Stands in the words of a command for the folder of the files."""


@dataclass(frozen=True)
class Form:
    """How a tree of plain data is found in the bytes of a file, and written into one again."""

    tree: Callable[[bytes], Any]
    written: Callable[[bytes, Any], bytes]
    """Takes the bytes that it was found in."""


def _lines(content: bytes) -> list[Any]:
    return [json.loads(line) for line in content.splitlines()]


def _written_lines(_: bytes, tree: Any) -> bytes:
    return b"".join(written(each) + b"\n" for each in (tree if isinstance(tree, list) else [tree]))


def _head(content: bytes) -> Any:
    (size,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + size])


def _with_head(content: bytes, tree: Any) -> bytes:
    (size,) = struct.unpack("<Q", content[:8])
    head = written(tree)
    return struct.pack("<Q", len(head)) + head + content[8 + size :]


JSON: Final = Form(json.loads, lambda _, tree: written(tree))
LINES: Final = Form(_lines, _written_lines)
PACKED: Final = Form(
    lambda content: _lines(gzip.decompress(content)), lambda _, tree: gzip.compress(_written_lines(b"", tree), 1)
)
TENSORS: Final = Form(_head, _with_head)


@dataclass(frozen=True)
class Target:
    """A format. ``valid`` gives folders of files, of which the first file is changed; ``words`` are commands.

    ``mended`` makes of a changed file, in its folder, one that is refused for less.
    """

    name: str
    valid: Callable[[], Sequence[Files]]
    form: Form
    words: tuple[tuple[str, ...], ...]
    mended: Callable[[Path], None] = lambda _: None


def with_its_id(path: Path) -> None:
    """Give a case file the id of its content, so that it is read further."""
    try:
        load_case(path)
    except CaseError as error:
        if " but its content has the id '" in str(error):
            document = json.loads(path.read_bytes())
            document["id"] = str(error).split("'")[-2]
            path.write_text(json.dumps(document))
    except Exception:  # noqa: BLE001 - whatever is raised here is raised again by the command, which is judged
        return


def _packed() -> list[Files]:
    files = documents.log()
    packed = {"run.jsonl.gz": gzip.compress(files["run.jsonl"], 1)}
    return [packed | {name: content for name, content in files.items() if name != "run.jsonl"}]


REFERENCE: Final = ("-b", "reference", "--in-process")
FEW: Final = ("--op", "broadcast", "--suite", "collectives", "--examples", "1", "--json", "-o", "{}/out")
KNOWN: Final = ("--issue", "https://a.example/7", "--owner", "Ann", "--expiry", "2999-12-31", "-o", "{}/known/new.json")
OUT_OF_CASE: Final = ("replay", "{}/case.json", *REFERENCE, "--json")

DIALECTS: Final = ("spmd", "types", "graph", "global", "schedule")

TARGETS: Final = (
    *(
        Target(
            f"case of {dialect}", lambda dialect=dialect: documents.cases(dialect), JSON,
            (OUT_OF_CASE, ("replay", "{}/case.json", *REFERENCE)), with_its_id,
        )
        for dialect in DIALECTS
    ),
    Target("tensors", documents.large, TENSORS, (OUT_OF_CASE,)),
    Target("schedule", documents.schedules, JSON, (("schedule", "{}/schedule.json"),)),
    Target(
        "log", lambda: [documents.log()], LINES,
        (
            ("report", "{}", "--json"), ("report", "{}", "-o", "{}/page"), ("known", "{}", *KNOWN),
            ("run", "--failed", "{}", "-b", documents.BROKEN, "--in-process"),
            ("run", *documents.RUN, "-o", "{}", "--resume"),
            ("run", *documents.RUN, "-o", "{}/out", "--against", "{}"),
            ("history", "add", "{}", "--history", "{}/kept.sqlite"), ("site", "{}/site", "{}"), ("diff", "{}", "{}"),
        ),
    ),
    Target("packed log", _packed, PACKED, (("report", "{}", "--json"),)),
    Target(
        "report", lambda: [documents.report()], JSON,
        (("reproduce", "{}", "--run", "-b", documents.BROKEN), ("report", "{}", "-o", "{}")),
    ),
    Target(
        "known failures", lambda: [documents.known()], JSON, (("run", *REFERENCE, *FEW, "--known", "{}/known.json"),)
    ),
    Target(
        "explanations", lambda: [documents.explanations()], JSON, (("report", "{}", "--json", "--expectations", "{}"),)
    ),
    Target(
        "qualification", lambda: [documents.qualification()], JSON,
        (("report", "{}", "--json", "--qualification", "{}/qualification.json"),),
    ),
)  # fmt: skip
