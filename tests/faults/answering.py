"""A program that speaks the protocol and gives to every request the observation in the file that it is given."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

READ, WRITE = int(os.environ["CONFORMANCE_READ"]), int(os.environ["CONFORMANCE_WRITE"])


def main(file: str) -> None:
    observation = json.loads(Path(file).read_text())
    claims = {"graph": {}, "sharded": {}, "typed_program": {}}
    with os.fdopen(READ, closefd=False) as source:
        for line in source:
            request = json.loads(line)
            if request["type"] == "stop":
                return
            reply = {"type": "ready", "protocol": 1, "name": "answering", "description": {}, "claims": claims}
            if request["type"] != "hello":
                reply = {"type": "done", "seq": request["seq"], "observation": observation}
            os.write(WRITE, json.dumps(reply).encode() + b"\n")


if __name__ == "__main__":
    main(sys.argv[1])
