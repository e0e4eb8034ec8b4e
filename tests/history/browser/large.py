"""Write a site of made-up runs for a browser: ``large.py FOLDER RUNS RECORDS`` leaves FOLDER/site.

Twenty backends and eighty operations; of each run some cases flip, one backend is slower from a day on, and ways to
fail have their cases beside the log.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import sys
from pathlib import Path
from typing import Any

from conformance.cli import main

BACKENDS = [f"vendor-{number}" for number in range(20)]
OPS = [f"operation_{number}" for number in range(80)]


def digest(*words: object) -> str:
    return hashlib.sha256(repr(words).encode()).hexdigest()


def header(day: int) -> dict[str, Any]:
    entries = [
        {"name": name, "description": {name: f"1.{day // 5}", "driver": "made up"}, "claims": {}} for name in BACKENDS
    ]
    return {
        "type": "header", "format": 1, "suites": ["collectives"], "spec_digest": digest(day // 10), "ops": OPS,
        "reference_digest": digest("reference"), "seed": 0, "profile": "default", "examples": 300,
        "started": f"2026-{1 + day // 28:02}-{1 + day % 28:02}T02:17:00+00:00", "backends": entries,
        "environment": {"python": "3.11.7", "processor": "a made-up processor", "cores": "2"},
    }  # fmt: skip


def case(number: int, *, bad: bool) -> dict[str, Any]:
    backend, op = BACKENDS[number % 20], OPS[number // 20 % 80]
    name = f"{op}/float32-4/{digest(number // 20)[:12]}"
    said = {
        "type": "case", "backend": backend, "case": name, "op": op, "dtype": "float32", "world": 4, "seconds": 0.001,
        "outcome": "failed" if bad else "passed", "clauses": {f"{op}.C1": "broken" if bad else "held"},
        "origin": f"collectives/{op}/0/{number // 1600}", "observation": digest(number, bad),
    }  # fmt: skip
    blame = {"blame": f"{op}.C1", "requirement": "must", "detail": "rank 0, element 3: 4.0, expected 5.0"}
    return said | (blame if bad else {})


def run(folder: Path, day: int, records: int) -> Path:
    flipped = set(random.Random(day).sample(range(records), records // 500))
    cases = [case(number, bad=(number % 97 == 0) != (number in flipped)) for number in range(records)]
    ways = {(one["backend"], one["op"]): one for one in cases if one["outcome"] == "failed"}
    counts: dict[str, dict[str, int]] = {}
    for one in cases:
        mine = counts.setdefault(one["backend"], {})
        mine[one["outcome"]] = mine.get(one["outcome"], 0) + 1
    (folder / "cases").mkdir(parents=True)
    with (folder / "run.jsonl").open("w") as file:
        print(json.dumps(header(day), separators=(",", ":")), file=file)
        for one in cases:
            print(json.dumps(one, separators=(",", ":")), file=file)
        for one in list(ways.values())[:200]:
            path = f"cases/{one['case'].replace('/', '_')}.json"
            (folder / path).write_text(json.dumps({"format": 1, "id": one["case"]}, indent=1))
            said = {"type": "failure", "backend": one["backend"], "op": one["op"], "clause": one["blame"], "file": path}
            more = {"requirement": "must", "outcome": "failed", "case": one["case"], "detail": one["detail"]}
            print(json.dumps({**said, **more, "minimal": True, "explains": []}), file=file)
        print(
            json.dumps({"type": "footer", "finished": header(day)["started"], "seconds": 100.0, "counts": counts}),
            file=file,
        )
    noise = random.Random(day + 1)
    rows = [
        {
            "backend": name,
            "op": "all_reduce",
            "size": 4096,
            "time_us": (10 + 0.5 * at) * noise.uniform(0.98, 1.02) * (1.5 if at == 1 and day > 15 else 1),
        }
        for at, name in enumerate(["copy", *BACKENDS[:4]])
    ]
    (folder / "bench.json").write_text(json.dumps({"ranks": 4, "rows": rows}))
    return folder


if __name__ == "__main__":
    where, days, size = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    shutil.rmtree(where / "site-runs", ignore_errors=True)
    folders = [run(where / "site-runs" / str(day), day, size) for day in range(days)]
    sys.exit(main(["site", str(where / "site"), *map(str, folders)]))
