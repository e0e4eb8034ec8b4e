"""Words on a command line that mean nothing, or nothing together."""

from __future__ import annotations

from typing import Final

from tests.faults.fault import Fault, Table

LINES: Final = (
    ("rum", "unknown command 'rum'; did you mean 'run'?"),
    ("run -b opencll", "unknown backend 'opencll'; did you mean 'opencl'?"),
    ("run -b no.such.module:Thing", "no module 'no'"),
    ("run -b json:JSONDecoder", "is no backend"),
    ("run -b exec:no-such-program", "is not an executable program"),
    ("run -b exec:", "names no program"),
    ("run -b reference,,jax", "has an empty name"),
    ("run --op all_gathr", "did you mean 'all_gather'?"),
    ("run --suite collective", "did you mean 'collectives'?"),
    ("run --suite types --op broadcast", "no operation of broadcast is in the suites types"),
    ("run --profile nightlyy", "nightlyy"),
    ("run --sed 1", "No such option '--sed'"),
    ("run --examples 0", "0 is not in the range"),
    ("run --examples many", "'many' is not a valid integer"),
    ("run --seed -1", "-1 is not in the range"),
    ("run --time-budget soon", "'soon' is no length of time"),
    ("run --time-budget nan", "'nan' is no length of time"),
    ("run --case-limit -5s", "is no length of time"),
    ("run --resume", "--resume needs the folder"),
    ("run -o taken/out", "cannot write into taken/out"),
    ("run --known nosuch.json", "nosuch.json"),
    ("run --failed nosuch", "nosuch holds no run.jsonl"),
    ("run --failed nosuch --seed 1", "--failed runs the stored cases of a run"),
    ("replay nosuch.json", "no case file nosuch.json"),
    ("replay", "Missing argument"),
    ("report", "Missing argument"),
    ("report nosuch", "nosuch holds no run.jsonl"),
    ("run -b reference -o taken", "cannot write into taken: it is no folder"),
    ("spec --markdown -o taken", "cannot write into taken: it is no folder"),
    ("report a b", "needs a folder of its own"),
    ("report taken", "taken"),
    ("schedule nosuch.json", "nosuch.json"),
    ("spec all_gather.C99", "did you mean 'all_gather.C"),
    ("spec al_reduce", "did you mean 'all_reduce'?"),
    ("spec --search zebra", "no sentence of the specification has all of"),
    ("spec --markdown", "give both or neither"),
    ("qualify --mutants no.such", "no mutants module 'no.such'"),
    ("qualify --resume", "--resume"),
    ("known nosuch -o k.json --issue https://a.example --owner Ann --expiry 2999-01-01", "nosuch holds no run.jsonl"),
    ("reproduce nosuch -b jax", "nosuch"),
    ("explain nosuch.json", "nosuch.json"),
    ("bench suit", "did you mean 'suite'?"),
    ("bench collectives --sizes big", "'BIG' is no size"),
    ("bench collectives --ranks 1", "1 is not in the range"),
    ("bench collectives --peer nobody=nothing", "nobody"),
    ("new-backend json", "a module 'json' is there already"),
    ("new-backend conformance", "a module 'conformance' is there already"),
    ("new-backend 2many", "is no name for a module"),
)  # fmt: skip

TABLE: Final = Table(
    "A command line",
    "The command ends with 2 and one line that says what would be right, and no file is made.",
    tuple(Fault(f"`conformance {line}`", f"*{says}*", (line, says)) for line, says in LINES),
)
