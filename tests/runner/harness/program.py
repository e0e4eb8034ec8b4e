"""A harness of broadcast over axis i that keeps to the protocol, but for the one thing that its argument names."""

from __future__ import annotations

import json
import os
import sys
import time

HOW = sys.argv[1] if len(sys.argv) > 1 else ""
READ, WRITE, FILES = (os.environ[f"CONFORMANCE_{name}"] for name in ("READ", "WRITE", "FILES"))
CLAIMS = {
    "broadcast": {
        "dtype": ["int32"],
        "groups": ["none"],
        "axes": ["one"],
        "operands": ["one"],
        "layout": ["contiguous"],
        "calls": ["legal"],
        "ranks": ["alike"],
        "meeting": ["world"],
        "world": ["2", "3"],
    }
}


def say(reply: object) -> None:
    line = json.dumps(reply).encode() + b"\n"
    if HOW == "answers on standard output too":
        os.write(1, line)
    os.write(int(WRITE), line)


def blocks(case: dict) -> list:
    """Return the blocks of the only input, those of a file with the bits from beside it."""
    (operand,) = case["inputs"].values()
    for rank, block in enumerate(operand["blocks"]):
        if block.get("file"):
            with open(os.path.join(FILES, block.pop("file")), "rb") as file:
                content = file.read()
            head = int.from_bytes(content[:8], "little")
            (name,) = case["inputs"]
            begin, end = json.loads(content[8 : 8 + head])[f"{name}/{rank}"]["data_offsets"]
            block["bits"] = content[8 + head + begin : 8 + head + end].hex()
    return [{name: block[name] for name in ("dtype", "shape", "bits")} for block in operand["blocks"]]


def observed(request: dict) -> dict:
    case = request["case"]
    if case is None:
        path = os.path.join(FILES, request["file"])
        with open(path) as file:
            case = json.load(file)
        if HOW == "removes files":
            os.unlink(path)
    step, held = case["program"]["steps"][0], blocks(case)
    refusal = {
        "kind": "E",
        "message": "no",
        "category": "unsupported" if request["case"] is None else "invalid_argument",
    }
    known = step["axes"][0] == case["program"]["mesh"][0]["name"]
    if (not known and HOW != "refuses nothing") or (request["case"] is None and HOW == "reads no files"):
        return {"errors": [refusal] * len(held)}
    made = [dict(held[step["attrs"]["root"]]) for _ in held]
    if HOW == "wrong shapes":
        made[0] |= {"shape": [*made[0]["shape"], 1]}
    return {"results": {case["program"]["results"][0]: made}}


def lines():
    rest = b""
    while chunk := os.read(int(READ), 1 << 16):
        if HOW == "reads a line at a time from what came":
            yield from chunk.splitlines()
            continue
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole


def main() -> int:
    kept, seen = [], 0
    for line in lines():
        if HOW == "wants its own spelling" and b'"seq":' not in line and b'"hello"' not in line:
            raise ValueError("no seq")
        request = json.loads(line)
        if request["type"] == "stop":
            return 3 if HOW == "ends with 3" else time.sleep(60) if HOW == "does not end" else 0
        if request["type"] == "hello":
            if HOW == "greets first":
                say({"type": "banner"})
            ready = {"type": "ready", "protocol": 2 if HOW == "another version" else 1, "name": "p", "description": {}}
            name = f"p{os.getpid()}" if HOW == "another name each time" else "p"
            say({**ready, "name": name, "claims": CLAIMS})
            continue
        if request["type"] != "run":
            if HOW == "dies of other requests":
                raise ValueError(request["type"])
            error = {"kind": "E", "message": "no", "category": "unsupported"}
            say({"type": "done", "seq": request["seq"], "observation": {"errors": [error]}})
            continue
        seen += 1
        reply = {"type": "done", "seq": request["seq"], "observation": observed(request)}
        if HOW == "answers in pairs, turned" and seen > 4:
            kept.append(reply)
            if len(kept) == 2:
                say(kept.pop())
                say(kept.pop())
            continue
        if HOW == "loses what is beyond a thousand" and seen > 1000:
            continue
        say(reply)
        if HOW == "answers twice":
            say(reply)
    return 1 if HOW == "wants stop" else 0


sys.exit(main())
