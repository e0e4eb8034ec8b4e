"""Cases of graphs, sharded tensors and types as scripts of a framework: the adapter's code, quoted, and the case as data.

Such a case is run by a walk over its nodes or steps, so that a script holds that walk and the case's literal. It prints
what is expected and what is observed, and ends with 1 while the observed answer comes again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from typing import Any, Final

import msgspec

from conformance.backends.base import Backend
from conformance.backends.observing import graph_observation, sharded_observation, typed
from conformance.cases.graph.case import GraphCase
from conformance.cases.observation import Observation
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.tensor.tensor import to_array
from conformance.cases.types.typed_case import TypedCase
from conformance.reproduce.frame import ANSWERED, LIMIT
from conformance.reproduce.quote import OURS, Quotation
from conformance.reproduce.source_text import constructed, docstring, literal


@dataclass(frozen=True)
class Walked:
    """How a system runs a kind of case: the ``module`` and ``functions`` of the adapter, and the ``call`` of them."""

    module: str
    functions: tuple[str, ...]
    call: str


_JAX: Final = (
    'os.environ["JAX_PLATFORMS"] = "cpu"',
    'os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"',
    "import jax",
    'jax.config.update("jax_enable_x64", True)',
)
_TINYGRAD: Final = ('os.environ["DEV"] = DEVICE',)
SETTINGS: Final[Mapping[str, tuple[str, ...]]] = {"jax": _JAX, "tinygrad": _TINYGRAD, "torch": ()}
NEEDS: Final = {"jax": "jax", "tinygrad": "tinygrad", "torch": "torch"}

_ON: Final = "conformance.backends."
_TYPED: Final = f"{_ON}jax.typed_programs"

_BATCHED: Final = "batched(PROGRAM, DEVICES, CASE.batch, blocks(CASE.inputs))(blocks(CASE.inputs))"

WALKS: Final[Mapping[tuple[str, str], Walked]] = {
    ("jax", "graph"): Walked(f"{_ON}jax.graphs", ("run",), "run(CASE)"),
    ("tinygrad", "graph"): Walked(f"{_ON}tinygrad.graph_values", ("run",), "run(CASE, DEVICE)"),
    ("torch", "graph"): Walked(f"{_ON}torch.graphs", ("run",), "run(CASE)"),
    ("jax", "sharded"): Walked(f"{_ON}jax.named_shardings", ("run",), "run(CASE, jax.devices())"),
    ("jax-explicit", "sharded"): Walked(f"{_ON}jax.explicit_axes", ("run",), "run(CASE, jax.devices())"),
    ("tinygrad", "sharded"): Walked(f"{_ON}tinygrad.sharded_tensors", ("run",), "run(CASE, DEVICE)"),
    ("jax", "types"): Walked(
        _TYPED, ("types", "values"), "(types(PROGRAM, DEVICES), values(PROGRAM, DEVICES)(blocks(CASE.inputs)))[1]"
    ),
    ("jax", "transposed"): Walked(
        _TYPED,
        ("pullback",),
        "pullback(PROGRAM, DEVICES, tuple(CASE.cotangents))"
        '({**blocks(CASE.inputs), **{f"ct {name}": each for name, each in blocks(CASE.cotangents).items()}})',
    ),
    ("jax", "pushed"): Walked(
        _TYPED,
        ("pushforward",),
        "pushforward(PROGRAM, DEVICES)"
        '({**blocks(CASE.inputs), **{f"d {name}": each for name, each in blocks(CASE.tangents).items()}})',
    ),
    ("jax", "batched"): Walked(_TYPED, ("batched",), _BATCHED),
}
"""By backend or system, and kind of case."""

KEYED: Final = (GraphCase, ShardedCase, TypedCase)


def kind_of(case: Any) -> str:
    """Return the word of ``WALKS`` for a case."""
    return "graph" if isinstance(case, GraphCase) else "sharded" if isinstance(case, ShardedCase) else str(case.kind)


def observed_by(backend: Backend, case: Any) -> Observation:
    """Return what a backend of this process makes of a case."""
    if isinstance(case, GraphCase):
        return graph_observation(backend, case)
    return sharded_observation(backend, case) if isinstance(case, ShardedCase) else typed(backend, case)


def keyed_script(
    case: Any, backend: Backend, told: Mapping[str, str], seen: Observation | None, right: Observation
) -> str:
    """Return the script of a case; raise ``LookupError`` where there is none of its kind for the backend.

    ``told`` are the words of the head: ``case``, ``clause``, ``sentence``, ``source``, ``detail`` and, where there was
    no answer, ``outcome``. ``right`` is what the reference gives.
    """
    kind = kind_of(case)
    walk = WALKS.get((backend.name, kind)) or WALKS[backend.system, kind]
    quotation = Quotation().add(*(getattr(import_module(walk.module), name) for name in walk.functions), to_array)
    if backend.system == "tinygrad" and kind == "sharded":
        quotation.add(import_module(f"{_ON}tinygrad.collectives").lowered)
    classes = tuple(dict.fromkeys(_classes(case)))
    quotation.add(*classes)
    constants = [f"DEVICE = {literal(backend.device)}"] if hasattr(backend, "device") else []
    constants += [f"ALGORITHM = {literal(backend.algorithm)}"] if hasattr(backend, "algorithm") else []
    parts = [
        docstring(
            [
                told["case"],
                "",
                f"Expected ({told['clause']}, source {told['source']}): {told['sentence']}",
                f"Observed: {told['detail']}",
                "",
                f"Needs {NEEDS[backend.system]}, msgspec, ml_dtypes and numpy. Exit status: 1 while this is so, 0 when it is "
                "not, 2 when it could not be run.",
            ]
        ),
        _PARENT.format(
            limit=literal(LIMIT),
            outcome=literal(told["outcome"] if seen is None else "raised" if seen.raised else "values"),
            error=literal(next((error.kind for error in seen.errors if error is not None), "") if seen else ""),
            expected=literal(_results(right)),
            observed=literal(_results(seen)),
        ),
        "\n".join((*constants, *SETTINGS[backend.system])),
        "\n".join(quotation.imports),
        *quotation.definitions.values(),
        f"CASE = {constructed(case, quotation.name_of)}",
        _PROGRAM if isinstance(case, TypedCase) else "",
        _CHILD.format(call=_within(walk.call, backend, kind)),
    ]
    return "\n\n".join(part.strip("\n") + "\n" for part in parts if part)


def _within(call: str, backend: Backend, kind: str) -> str:
    if backend.system == "tinygrad" and kind == "sharded":
        return f"within(lowered(ALGORITHM), lambda: {call})"
    return f"({call})"


def _classes(value: Any) -> Iterator[type]:
    """Yield the classes of ours that a case is made of, in the order in which its literal needs them."""
    for part in _parts(value):
        yield from _classes(part)
    if type(value).__module__.partition(".")[0] == OURS:
        yield type(value)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from (*value, *value.values())
    elif isinstance(value, msgspec.Struct):
        yield from (getattr(value, name) for name in value.__struct_fields__)
    elif is_dataclass(value):
        yield from (getattr(value, each.name) for each in fields(value))
    elif isinstance(value, list | tuple | frozenset):
        yield from value


def _results(seen: Observation | None) -> dict[str, list[Any]]:
    found = seen.results if seen is not None else {}
    return {
        key: [None if each is None else [each.dtype, list(each.shape), each.bits] for each in blocks]
        for key, blocks in found.items()
    }


_PARENT = (
    """\
import json
import os
import signal
import subprocess
import sys

ME, CHILD = os.path.abspath(__file__), "--child"
LIMIT = {limit}  # seconds; who has not answered by then hangs
OUTCOME, ERROR = {outcome}, {error}
EXPECTED = {expected}
OBSERVED = {observed}


def ask():
    \"\"\"Run this script as a child; return its answer, or None, and how it ended.\"\"\"
    process = subprocess.Popen([sys.executable, ME, CHILD], stdout=subprocess.PIPE, text=True, start_new_session=True)
"""
    + ANSWERED
    + """\
    return (lines or [None])[0], hung, process.returncode


def shows(answer, hung, status):
    if hung:
        return OUTCOME == "timeout"
    if answer is None:
        return True if status < 0 and OUTCOME == "crashed" else None
    if OUTCOME == "raised":
        return answer["error"][0] == ERROR or None if answer["error"] else False
    if OUTCOME != "values" or answer["error"]:
        return None if answer["error"] else False
    wrong = [key for key in OBSERVED if OBSERVED[key] != EXPECTED.get(key)]
    return all(answer["results"].get(key) == OBSERVED[key] for key in wrong)


def main():
    answer, hung, status = ask()
    for word, table in (("expected", EXPECTED), ("observed", (answer or {{}}).get("results") or {{}})):
        print(word)
        for key, blocks in table.items():
            print(f"    {{ascii(key)[1:-1]}}: {{blocks}}")
    if answer is None:
        print(f"    no answer: {{'it hung' if hung else f'exit status {{status}}'}}")
    elif answer["error"]:
        print(f"    raised {{ascii(': '.join(answer['error']))[1:-1]}}")
    bug = shows(answer, hung, status)
    print("this does not tell" if bug is None else "the bug is there" if bug else "the bug is not there")
    return 2 if bug is None else int(bug)


if CHILD not in sys.argv:
    sys.exit(main())
"""
)

_PROGRAM = """\
PROGRAM, DEVICES = CASE.program, jax.devices()


def blocks(table):
    return {name: [to_array(each) for each in of] for name, of in table.items()}
"""

_CHILD = """\
def within(context, function):
    with context:
        return function()


def entries(value):
    blocks = getattr(value, "parts", value if isinstance(value, list) else [value])
    arrays = [None if block is None else np.asarray(block) for block in blocks]
    return [None if a is None else [str(a.dtype), list(a.shape), a.tobytes().hex()] for a in arrays]


try:
    results, error = {{key: entries(value) for key, value in {call}.items()}}, None
except Exception as raised:
    results, error = {{}}, [type(raised).__name__, " ".join(str(raised).split())[:500]]
print("\\nANSWER " + json.dumps({{"results": results, "error": error}}), flush=True)
"""
