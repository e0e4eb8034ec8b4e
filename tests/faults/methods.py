"""What a vendor's class may do in a method, in its own process."""

from __future__ import annotations

from typing import Final

from tests.faults.fault import Fault, Table

ERRORED, FINE = "errored", "passed"

ROWS: Final = (
    ("returns 17 of `execute`", "def execute(self, case): return 17", ERRORED, "execute returned 17, a int"),
    ("returns nothing of `execute`", "def execute(self, case): pass", ERRORED, "execute returned None"),
    (
        "returns a class of `execute`",
        "def execute(self, case): return type(super().execute(case))",
        ERRORED,
        "execute returned <class",
    ),
    (
        "returns an observation with 17 for its results",
        "def execute(self, case): return type(super().execute(case))(results=17)",
        ERRORED,
        "'int' object has no attribute",
    ),
    ("raises with 10 MB of text", "def execute(self, case): raise RuntimeError('x' * 10_000_000)", ERRORED, "xxx"),
    ("raises what cannot be shown", "def execute(self, case): raise _Mute", ERRORED, "_Mute"),
    ("never returns from `close`", "def close(self): import time; time.sleep(3600)", FINE, "did not exit within"),
    ("aborts in `close`", "def close(self): import os; os.abort()", FINE, "was killed by SIGABRT"),
    ("exits in `close`", "def close(self): import os; os._exit(5)", FINE, "exited with status 5"),
    ("raises in `close`", "def close(self): raise RuntimeError('late')", FINE, "exited with status 1"),
)

TABLE: Final = Table(
    "In a method of its class",
    "The case has the outcome below, in at most 4,000 characters of text; how a process ended that was told to is said "
    "at the end of a run.",
    tuple(
        Fault(f"A method {done}.", f"`{outcome}`, *{says}*", (source, outcome, says))
        for done, source, outcome, says in ROWS
    ),
)
