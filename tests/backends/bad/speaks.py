"""A program that speaks the protocol by itself and breaks it on case 3, in the way its argument names."""

from __future__ import annotations

import json
import os
import sys
import time

source, sink = os.fdopen(int(os.environ["CONFORMANCE_READ"])), int(os.environ["CONFORMANCE_WRITE"])


def say(text: str) -> None:
    os.write(sink, text.encode() + b"\n")


for line in source:
    request = json.loads(line)
    if request["type"] == "hello":
        say(json.dumps({"type": "ready", "protocol": 1, "name": "speaks", "description": {}, "claims": {}}))
    elif request["type"] == "stop":
        break
    else:
        case, seq = request["case"], request["seq"]
        bad = case["inputs"]["x"]["blocks"][0]["bits"].startswith("42")
        how = sys.argv[1] if bad else "right"
        if how == "garbage":
            say("\x00\x7fnonsense")
        elif how == "not_the_schema":
            say('{"type": "done", "seq": "one"}')
        elif how == "half_a_line":
            os.write(sink, b'{"type": "done", ')
            time.sleep(3600)
        elif how == "file_trick":
            say(json.dumps({"type": "done", "seq": seq, "file": "../../etc/passwd"}))
        elif how == "no_hex":
            case["inputs"]["x"]["blocks"][0]["bits"] = "0x0x0x0x"
        elif how == "closes":
            os.close(sink)
            time.sleep(3600)
        elif how == "endless":
            while True:
                os.write(sink, b"[" * 65536)
        elif how == "nested":
            say('{"type": "done", "x": ' + "[" * 500_000)
        blocks = case["inputs"]["x"]["blocks"]
        blocks = [blocks[0]] * len(blocks)
        say(json.dumps({"type": "done", "seq": seq + (how == "wrong_seq"), "observation": {"results": {"y": blocks}}}))
