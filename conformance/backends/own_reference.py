"""Whether a backend answers by the suite's own reference: what agrees with itself shows nothing of anybody else."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from conformance.backends.base import Backend

NAME: Final = "answered by the suite's own reference"
"""What it is called in a description."""

_ORACLE: Final = ("conformance.reference", "conformance.backends.reference")
_METHODS: Final = {
    "graph": ("run_graph", "graph"), "sharded": ("sharded",), "typed_program": ("typed",),
    "transposed_program": ("pullback",), "batched_program": ("batched",), "lowered_program": ("lowered",),
    "compiled_program": ("compiled",), "pushed_program": ("pushforward",),
}  # fmt: skip
"""The methods of what is no operation of a program."""

SHOWN: Final = 4


def told(backend: Backend, claimed: Iterable[str], loaded: Collection[str] = ()) -> dict[str, str]:
    """Return what is said of it in a description, nothing where no class and no function of the reference answers.

    ``loaded`` are the modules of a process that imports none of the reference unless the backend does.
    """
    ops = [op for op in claimed if _by_reference(backend, op)]
    if ops:
        more = len(ops) - SHOWN
        return {NAME: ", ".join(ops[:SHOWN]) + (f" and {more} more" if more > 0 else "")}
    used = any(_of_oracle(module) for module in loaded)
    return {NAME: "its modules import the reference"} if used else {}


def _by_reference(backend: Backend, op: str) -> bool:
    """Return whether the method that answers an operation is of the reference, be it inherited or assigned."""
    for kind in type(backend).__mro__:
        for name in (op, *_METHODS.get(op, ())):
            if name in vars(kind):
                method = vars(kind)[name]
                return _of_oracle(kind.__module__) or _of_oracle(getattr(method, "__module__", None) or "")
        if _of_oracle(kind.__module__):
            return True
    return False


def _of_oracle(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in _ORACLE)
