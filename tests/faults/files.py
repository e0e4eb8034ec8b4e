"""Files that somebody wrote or changed: cases of every dialect, schedules, logs, known failures, explanations."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from tests.faults.fault import Fault, Table

Edit = Callable[[Any], Any]


WORK: Final = "work"
"""The edit that changes nothing: what is changed is how much work is allowed."""

MORE: Final = ("asks for more work than `CONFORMANCE_MOST_WORK` allows", WORK, "CONFORMANCE_MOST_WORK=STEPS")


def within(*path: str | int, **fields: Any) -> Edit:
    """Return the edit that updates the object at a path."""

    def edit(document: Any) -> Any:
        place = document
        for step in path:
            place = place[step]
        place.update(fields)
        return document

    return edit


def without(*path: str | int) -> Edit:
    """Return the edit that takes away what lies at a path."""

    def edit(document: Any) -> Any:
        place = document
        for step in path[:-1]:
            place = place[step]
        del place[path[-1]]
        return document

    return edit


X: Final = ("inputs", "x", "blocks", 0)
STEP: Final = ("program", "steps", 0)

CASES: Final = (
    ("is empty", b"", "it is not JSON"),
    ("is half a file", b"{", "it is not JSON"),
    ("is a hundred thousand brackets", b"[" * 100_000, ""),
    ("is not UTF-8", b"\xff\xfe", ""),
    ("is null", b"null", ""),
    ("is of another format", within(format=9), "it has format 9"),
    ("is of an unknown dialect", within(dialect="quantum"), ""),
    ("has a field that does not exist", within(novelty=1), "unknown field `novelty`"),
    ("has no program", without("program"), "missing required field `program`"),
    ("has the id of another case", within(id="broadcast/int32-3/0123456789ab"), "its content has the id"),
    ("has an id that leads to another folder", within(id="../../etc/passwd"), "matching regex"),
    ("was changed by one bit", within(*X, bits="02000000"), "its content has the id"),
    ("has a mesh of 10^9 ranks", within("program", "mesh", 0, size=10**9), "at most 1024"),
    ("has an axis of size 0", within("program", "mesh", 0, size=0), "it must have at least 1"),
    (
        "has a mesh of 65 axes",
        within("program", mesh=[{"name": f"a{n}", "size": 1} for n in range(65)]),
        "at most 64 are allowed",
    ),
    (
        "has 2,000 steps",
        within("program", steps=[{"op": "barrier", "inputs": [], "outputs": [], "axes": []}] * 2000),
        "at most 1024 are allowed",
    ),
    ("has a name of a million characters", within("program", results=["y" * 10**6]), "a name has at most 256"),
    ("has a size that is text", within("program", "mesh", 0, size="2"), "Expected `int`, got `str`"),
    ("has a block of 2^80 elements", within(*X, shape=[2**40, 2**40]), "over the limit"),
    ("has a block of 100 axes", within(*X, shape=[1] * 100), "more than 64"),
    ("has a negative extent", within(*X, shape=[-1]), "Expected `int` >= 0"),
    ("names an unknown dtype", within(*X, dtype="float31"), "unknown dtype 'float31'"),
    ("has fewer bits than it needs", within(*X, bits="0100"), "hex digits"),
    ("reads a file outside its folder", within(*X, bits=None, file="../../secret.safetensors"), ""),
    ("has fewer blocks than ranks", without(*X), "blocks for"),
    ("names an unknown layout", within("inputs", "x", layouts=["diagonal"] * 3), "Invalid enum value 'diagonal'"),
    ("names an operation that does not exist", within(*STEP, op="teleport"), "teleport"),
    ("reads a value that nothing makes", within(*STEP, inputs=["z"]), "uses 'z'"),
    ("makes a value twice", within(*STEP, outputs=["x"]), "defines 'x'"),
    ("asks for a value that nothing makes", within("program", results=["z"]), "result 'z' is never produced"),
    MORE,
)

GRAPHS: Final = (
    ("is empty", b"", "it is not JSON"),
    ("has no nodes", without("graph", "nodes"), "missing required field `nodes`"),
    ("has an operation that does not exist", within("graph", "nodes", -1, op="teleport"), "teleport"),
    ("has a node that reads itself", "self", ""),
    ("reads a node that is not there", within("graph", "nodes", -1, of=["nowhere"]), "nowhere"),
    ("has a shape of 2^60 elements", within("graph", "nodes", -1, shape=[2**60]), ""),
    ("has a negative shape", within("graph", "nodes", -1, shape=[-3]), ""),
    ("names an unknown dtype", within("graph", "nodes", -1, dtype="float31"), "float31"),
    ("lists a node twice", "twice", ""),
    ("has a node with a name of a million characters", within("graph", "nodes", -1, id="n" * 10**6), "at most 256"),
    ("is on a device of a million characters", within("graph", "nodes", -1, device="d" * 10**6), "at most 256"),
    ("reads a name of a million characters", within("graph", "nodes", -1, of=["b" * 10**6]), "at most 256"),
    ("has a node whose name is another folder", within("graph", "nodes", -1, id="../n"), "may have no slash"),
    ("was changed, and keeps its id", within("graph", "nodes", -1, arg="abs"), ""),
    ("has rounds that ask for nothing that is there", "asks", ""),
    MORE,
)

TYPED: Final = (
    ("is half a file", b'{"dialect": "types"', ""),
    ("has no program", without("program"), ""),
    ("has a field that does not exist", within(novelty=1), "novelty"),
    ("has a mesh of 10^9 ranks", within("program", "mesh", 0, size=10**9), ""),
    ("has a step that does not exist", within("program", "steps", 0, op="teleport"), ""),
    ("reads a value that nothing makes", within("program", "steps", 0, inputs=["nowhere"]), ""),
    ("has the id of another case", within(id="types_pvary/float32-2/0123456789ab"), ""),
    MORE,
)

SHARDED: Final = (
    ("is empty", b"", "it is not JSON"),
    ("has no mesh", without("mesh"), "missing required field `mesh`"),
    ("has a field that does not exist", within(novelty=1), "novelty"),
    ("has the id of another case", within(id="sharded_2_2/float32-2/0123456789ab"), "its content has the id"),
    ("has a mesh of 10^9 devices", within("mesh", 0, size=10**9), "1 to 16 are right"),
    ("has a mesh axis of size 0", within("mesh", 0, size=0), "1 to 16 are right"),
    ("has a mesh without axes", within(mesh=[]), "1 to 3 different ones are right"),
    ("names fewer devices than the mesh has positions", within(devices=[0]), "1 devices are named for a mesh of 2"),
    ("names a device past the last", within(devices=[0, 99]), "devices are numbered from 0 to 15"),
    ("places a buffer that is not there", within(homes={"z": {}}), "'z' is placed, and is no buffer"),
    ("places what is no copy", within(moves={"a": {}}), "'a' is placed, and is neither a copy nor a reduce"),
    ("has bounds that are text", within("homes", "a", "splits", 0, cuts=["0", "2", "4"]), "Expected `int`, got `str`"),
    ("has an unknown fold", within(homes={"a": {"partial": {"i": "average"}}}), "average"),
    (
        "has operands on other devices",
        within("of", "graph", "nodes", -1, device="d1"),
        "it is on d1, its source 'a' on d0",
    ),
    ("has an operation of programs", within("of", "graph", "nodes", -1, op="collective"), ""),
    MORE,
)

SCHEDULES: Final = (
    ("is empty", b"", "it is not JSON"),
    ("is a hundred thousand brackets", b"[" * 100_000, ""),
    ("is of another format", within(format=9), ""),
    ("has no items", without("items"), "items"),
    ("has an item on a device that is not there", within("items", 0, device="d9"), "d9"),
    ("has two items of one name", within("items", 1, id="add"), "add"),
    ("has a buffer of a negative size", within("buffers", 0, size=-1), ""),
    ("has a buffer of an unknown dtype", within("buffers", 0, dtype="float31"), "float31"),
    ("has a buffer that is a part of itself", within("buffers", 1, base="y", offset=0), ""),
    ("reads a buffer that is not there", within("items", 0, "accesses", 0, buffer="nowhere"), "nowhere"),
    ("waits for what was never started", within("items", 2, handle="q"), "'q'"),
    ("has an instruction that reads a later one", within("items", 0, "bodies", 0, "instructions", 2, of=[0, 9]), ""),
    ("has an edge from an item that is not there", within("items", 1, after=["nowhere"]), "nowhere"),
    MORE,
)

KNOWN: Final = (
    ("is no list", b"{}", "it must be a list of entries"),
    ("is not UTF-8", b"\xff\xfe[]", ""),
    ("names an unknown backend", within(0, backend="referenz"), "unknown backend 'referenz'"),
    ("names an unknown clause", within(0, clause="broadcast.C99"), "unknown clause 'broadcast.C99'"),
    ("names a case that is not stored", within(0, case="broadcast/uint8-2/0123456789ab"), "unknown case"),
    ("names a case in another folder", within(0, case="../../etc/passwd"), ""),
    ("runs a script from its issue", within(0, issue="javascript:alert(1)"), "begins with https://"),
    ("has no owner", without(0, "owner"), "missing required field `owner`"),
    ("has a day that is none", within(0, expiry="soon"), "the last day of the entry"),
    ("has a day that is over", within(0, expiry="2020-01-01"), "expired on 2020-01-01"),
    ("expects a case to pass", within(0, outcome="passed"), "outcome should be one of"),
    ("has a key twice among 100,000", b'[{"0":0,' + b",".join(b'"%d":0' % n for n in range(100_000)) + b"}]", "twice"),
    ("has evidence of no flake", within(0, flaky={"failed": 3, "of": 3}), ""),
    ("has a field of half a character", b'[{"\\ud800": "opencl"}]', "a text has half a character"),
    MORE,
)

EXPLANATIONS: Final = (
    ("is no list", b"{}", "is no list of explanations"),
    ("has no owner", without(0, "owner"), "owner"),
    ("has a day that is over", within(0, expiry="2020-01-01"), "expired on 2020-01-01"),
    ("runs a script from its link", within(0, link="javascript:alert(1)"), "must begin with https://"),
    ("explains a cause twice", lambda d: [*d, *d], "is explained before"),
    ("has a text to show that is no regular expression", within(0, shows=["("]), "is no regular expression"),
    ("is longer than 1 MiB", within(0, sentence="x" * (1 << 20)), "over the limit of 1 MiB"),
    ("explains nobody's finding", within(0, backends=[]), ""),
)


def everywhere(old: bytes, new: bytes) -> Edit:
    """Return the edit of lines that puts ``new`` for ``old``."""
    return lambda lines: [line.replace(old, new) for line in lines]


LONG: Final = b"x" * 1_000_000
SCRIPT: Final = b'"<script>alert(1)</script>"'
STEPPED: Final = b'"type":"case","steps":[{"op":"neg","given":"a","made":"a","found":"fine"}]'

LOGS: Final = (
    ("is not there", None, 2, "holds no run.jsonl"),
    ("is empty", lambda lines: [], 2, ""),
    ("is no log", lambda lines: [b"this is\n", b"no log\n"], 2, "run.jsonl:1: not a record of a run log"),
    ("has a line that is not UTF-8", lambda lines: [lines[0], b"\xff\xfe\n", *lines[1:]], 2, "run.jsonl:2: not a"),
    ("has a line of brackets", lambda lines: [lines[0], b"[" * 100_000 + b"\n", *lines[1:]], 2, "run.jsonl:2: not a"),
    ("is a hole of 17 MiB", lambda lines: [bytes(17 << 20)], 2, "run.jsonl:1: not a record of a run log: the line is"),
    ("has a hole after its header", lambda lines: [lines[0], bytes(17 << 20), *lines[1:]], 2, "run.jsonl:2: not a"),
    ("has a number of 5,000 digits", everywhere(b'"seconds":', b'"of":1' + b"0" * 5000 + b',"seconds":'), 0, ""),
    ("is of a later format", lambda lines: [lines[0].replace(b'"format":1', b'"format":9'), *lines[1:]], 2, "format 9"),
    ("has two headers", lambda lines: [lines[0], *lines], 2, "holds 2 headers"),
    ("has no header", lambda lines: lines[1:], 2, ""),
    ("breaks off inside a line", lambda lines: [*lines[:-1], lines[-1][:20]], 3, "the log has no footer"),
    ("has no footer", lambda lines: lines[:-1], 3, "the log has no footer"),
    ("lacks cases that its footer counts", lambda lines: [lines[0], *lines[3:]], 3, ""),
    ("names a backend by a script", everywhere(b'"reference"', SCRIPT), 0, ""),
    ("has a case that took less than no time", everywhere(b'"seconds":', b'"seconds":-1,"was":'), 2, "`float` >= 0"),
    ("has a clause of a million characters", everywhere(b"broadcast.C1", LONG), 2, "length <= 256"),
    ("has an unknown outcome", everywhere(b'"passed"', b'"fine"'), 2, ""),
    ("has an unknown word of a step", everywhere(b'"type":"case"', STEPPED), 2, "run.jsonl:2: not a record"),
    ("has half a character", everywhere(b'"type":"case"', b'"type":"case","note":"\\ud800"'), 2, "run.jsonl:2: not a"),
)  # fmt: skip


def edited(how: Any, document: Any) -> bytes:
    """Return the bytes of a file after an edit, or those that stand in its place."""
    if isinstance(how, bytes):
        return how
    if how == "self":
        node = document["graph"]["nodes"][-1]
        node["of"] = [node["id"]]
    elif how == "twice":
        document["graph"]["nodes"].append(document["graph"]["nodes"][-1])
    elif how == "asks":
        document["rounds"][-1]["asked"] = ["nowhere"]
    elif how != WORK:
        document = how(document)
    return json.dumps(document).encode()


def table(heading: str, what: str, rows: tuple[tuple[Any, ...], ...], command: str) -> Table:
    return Table(
        heading,
        f"`{command}` ends with 2 and one line that names the file and what is wrong; nothing is written.",
        tuple(Fault(f"{what} {done}.", f"*{says}*" if says else "one line", (how, says)) for done, how, says in rows),
    )


TABLES: Final = {
    "case": table("A case file", "The file", CASES, "conformance replay FILE"),
    "graph": table("A file of a graph case", "The file", GRAPHS, "conformance replay FILE"),
    "typed": table("A file of a typed case", "The file", TYPED, "conformance replay FILE"),
    "sharded": table("A file of a sharded case", "The file", SHARDED, "conformance replay FILE"),
    "schedule": table("A schedule", "The file", SCHEDULES, "conformance schedule FILE"),
    "known": table("Known failures", "The file", KNOWN, "conformance run --known FILE"),
    "explanations": table("Explanations", "The file", EXPLANATIONS, "conformance report --expectations DIR"),
    "log": Table(
        "A run log",
        "`conformance report DIR` ends with one line for what is no log, with 3 and a report for a log that is not "
        "whole, and shows hostile text as text.",
        tuple(
            Fault(f"The log {done}.", f"Status {status}" + (f", *{says}*" if says else ""), (how, status, says))
            for done, how, status, says in LOGS
        ),
    ),
}
