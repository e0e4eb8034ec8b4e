"""The title of a finding, for who reads no clause ids: what of which operands ends how."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from conformance.judging.cause import signature
from conformance.reference.operations import TABLE
from conformance.report.failures.example import Block, Example
from conformance.report.failures.findings import Finding
from conformance.report.inputs.specification import ClauseText

NAMED: Final = 2
"""Operations, or dtypes, that a title names; how many more operations there are it counts."""

QUOTED: Final = 90
"""Characters of a clause that a title quotes."""

WRONG: Final = {
    "elements": "gives wrong elements",
    "dtype": "gives another dtype",
    "shape": "gives another shape",
    "missing": "leaves a result out",
    "accepted": "is accepted although it is illegal",
    "storage": "writes storage that is not its own",
    "bool byte": "gives a bool that is neither 0 nor 1",
}
"""What a wrong answer is, by the word that its signature has."""

PROGRAMS: Final = {
    "graph": "a graph",
    "sharded": "a program on sharded tensors",
    "typed_program": "a typed program",
    "transposed_program": "the transpose of a program",
    "pushed_program": "the tangents of a program",
    "batched_program": "a mapped program",
}
"""What is no collective, by the operation that it is recorded under."""

_VERIFIER: Final = re.compile(r"verifier|Unable to parse module", re.IGNORECASE)
_MISSING: Final = re.compile(r"not implemented|unimplemented|not supported|unsupported", re.IGNORECASE)
_GROUPS: Final = re.compile(r"\bgroups?\b")
_MANY: Final = {"is": "are", "does": "do"}
_CALLED: Final = re.compile(r"= (\w+)\(")


def title(found: Finding, shown: Example | None, texts: Mapping[str, ClauseText]) -> str:
    """Return a title: the operation by its framework's own name, what is special about the operands, and the end.

    ``shown`` is the case of the finding where it can be read, ``texts`` are the clauses by id.
    """
    program = not all(op in TABLE for op in found.ops)
    end = _ending(found, texts)
    many = not program and len(found.ops) > 1
    after = "after other cases in the same process" if found.sequence else ""
    parts = (_what(found, shown, texts), _operands(found, shown, program=program), _plural(end) if many else end, after)
    return " ".join(part for part in parts if part)


def _plural(told: str) -> str:
    """Return what several do, of what one does."""
    verb, space, rest = told.partition(" ")
    rest = rest.replace("it is", "they are") if verb == "is" else rest
    return f"{_MANY.get(verb, verb.removesuffix('s'))}{space}{rest}"


def _what(found: Finding, shown: Example | None, texts: Mapping[str, ClauseText]) -> str:
    calls = [match.group(1) for step in (shown.steps if shown else ()) if (match := _CALLED.search(step))]
    if not all(op in TABLE for op in found.ops):
        whole = next(op for op in found.ops if op not in TABLE)
        program = PROGRAMS.get(whole, whole.replace("_", " "))
        inner = calls[-1] if calls and calls[-1] != "buf" else ""
        return f"{inner} in {program}" if inner else program
    names = [_own_name(op, found.backend, texts) for op in found.ops]
    more = len(names) - NAMED
    if more > 0:
        return f"{', '.join(names[:NAMED])} and {more} other{'s' if more > 1 else ''}"
    return " and ".join(names) or "a collective"


def _own_name(op: str, backend: str, texts: Mapping[str, ClauseText]) -> str:
    """Return what the framework calls an operation, where that is one name."""
    aliases = next((text.aliases for text in texts.values() if text.op == op and text.aliases), {})
    own = next((names for system, names in aliases.items() if backend.split("-", maxsplit=1)[0] == system), ())
    return own[0].rpartition(".")[2] if len(own) == 1 else op


def _operands(found: Finding, shown: Example | None, *, program: bool) -> str:
    """Return what is special: groups, that blocks are empty, or laid out so, and dtypes where they are few."""
    grouped = any(_GROUPS.search(step) for step in (shown.steps if shown else ()))
    blocks = [block for value in (shown.inputs if shown else ()) for block in value.blocks]
    dtypes = [dtype for dtype in found.dtypes if "+" not in dtype]
    few = dtypes if len(dtypes) == len(found.dtypes) <= NAMED else []
    words = [*(["empty"] if any(0 in block.shape for block in blocks) else []), " and ".join(few)]
    told = " ".join(word for word in words if word)
    layouts = sorted({_layout(block) for block in blocks} - {""})
    laid = f" in {layouts[0]} layout" if len(layouts) == 1 else ""
    blocks_so = f"{'on' if program else 'of'} {f'{told} ' if told else ''}blocks{laid}" if told or laid else ""
    return " ".join(word for word in ("with groups" if grouped else "", blocks_so) if word)


def _layout(block: Block) -> str:
    return "" if block.layout in ("", "contiguous") else block.layout.replace("_", " ")


def _ending(found: Finding, texts: Mapping[str, ClauseText]) -> str:
    if found.outcome == "crashed":
        return f"ends the process{f' ({found.error})' if found.error else ''}"
    if found.outcome == "timeout":
        return "never ends"
    if found.outcome == "protocol_error":
        return "is answered against the worker protocol"
    if found.outcome == "errored":
        return _raised(f"{found.cause} {found.detail}", found.error or "an error")
    says = signature(found.outcome, found.error, found.detail).says
    return WRONG.get(says) or _broken(found.clauses, texts)


def _raised(told: str, error: str) -> str:
    if error.startswith("Crash") or "SIG" in error:
        signal = error.removeprefix("Crash ")
        return f"ends a process{f' ({signal})' if signal.startswith('SIG') and signal != 'SIGNAL' else ''}"
    if _VERIFIER.search(told):
        return "is refused by the verifier"
    if error == "NotImplementedError" or _MISSING.search(told):
        return f"is not implemented ({error})"
    return f"raises {error}"


def _broken(clauses: Sequence[str], texts: Mapping[str, ClauseText]) -> str:
    said: Iterable[str] = (texts[clause].text for clause in clauses if clause in texts)
    first = next(iter(said), "").partition(". ")[0].rstrip(".")
    if not first:
        return "is wrong"
    return f"does not keep to: {first if len(first) <= QUOTED else first[:QUOTED].rsplit(' ', 1)[0] + ' …'}"
