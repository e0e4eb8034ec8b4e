"""What a vendor's process may say of itself when it starts."""

from __future__ import annotations

from typing import Any, Final

from tests.faults.fault import Fault, Table

USAGE, INCOMPLETE = 2, 3


def ready(**fields: Any) -> dict[str, Any]:
    return {"type": "ready", "protocol": 1, "name": "acme", "description": {}, "claims": {"broadcast": {}}, **fields}


ROWS: Final = (
    ("exits with status 0 without a word", "", USAGE, "it ended in order, with status 0, and never introduced itself"),
    ("exits with status 1 without a word", "exit 1", INCOMPLETE, "exited with status 1"),
    ("is killed before a word", "kill", INCOMPLETE, "was killed by SIGKILL"),
    ("writes what is no JSON", "nonsense", INCOMPLETE, "breaks the protocol"),
    ("answers before it is asked", {"type": "done", "seq": 1}, INCOMPLETE, ""),
    ("speaks a later version of the protocol", ready(protocol=2), INCOMPLETE, "speaks protocol 2, the runner 1"),
    ("speaks an older version of the protocol", ready(protocol=0), INCOMPLETE, "describes protocol 1"),
    ("has no name", {"type": "ready", "protocol": 1, "description": {}, "claims": {}}, INCOMPLETE, "`name`"),
    ("describes itself by numbers", ready(description={"version": 2}), INCOMPLETE, "Expected `str`, got `int`"),
    ("claims an operation that does not exist", ready(claims={"all_redcue": {}}), USAGE, "mean 'all_reduce'?"),
    ("claims a feature that does not exist", ready(claims={"broadcast": {"dtpye": []}}), USAGE, "'dtype'?"),
    ("claims a word that does not exist", ready(claims={"broadcast": {"dtype": ["f32"]}}), USAGE, "unknown word"),
    ("claims text where a list is due", ready(claims={"broadcast": {"dtype": "int8"}}), USAGE, "Expected `array`"),
    ("claims a list where operations are due", ready(claims=["broadcast"]), USAGE, ""),
    ("guarantees what is no guarantee", ready(guarantees=["speed"]), USAGE, "speed"),
    ("guarantees without what that needs", ready(guarantees=["history"]), USAGE, "run_to_run"),
    ("follows a source that does not exist", ready(follows=["jax.nothing"]), USAGE, "jax.nothing"),
    ("declares a number model that does not exist", ready(number_model={"mean": "reciprocl"}), USAGE, "mean 'reci"),
    ("declares partial results that hold no terms", ready(number_model={"accumulate": "float8"}), USAGE, ""),
    ("has a patience of nothing", ready(patience=0), USAGE, "patience is 0"),
    ("has a patience below nothing", ready(patience=-1), USAGE, "patience is -1"),
    ("has a patience without an end", ready(patience=1e999), INCOMPLETE, ""),
    ("needs less than no time for a case", ready(case_limit=-1), USAGE, "case_limit is -1"),
    ("has fewer than no examples", ready(examples=-1), USAGE, "examples is -1"),
    ("is unfit, and says so in colours", {"type": "unfit", "problem": "\x1b[31mno"}, USAGE, "\\x1b[31mno"),
    ("says of itself more than anybody reads", ready(description={"is": "x" * 2_000_000}), USAGE, "at most 65536 are"),
    ("is unfit, and says so in a million words", {"type": "unfit", "problem": "no " * 1_000_000}, USAGE, " … "),
    ("claims faults without the sums that follow them", ready(claims={"broadcast": {"faults": ["late"]}}), USAGE, ""),
)  # fmt: skip

TABLE: Final = Table(
    "When it introduces itself",
    "The command ends with one line that says what is wrong, before any case is asked, and no folder is made: with 2 "
    "where what it says of itself is wrong, with 3 where it says nothing that could be read.",
    tuple(
        Fault(f"The process {done}.", f"Status {status}" + (f", *{says}*" if says else ""), (reply, status, says))
        for done, reply, status, says in ROWS
    ),
)
