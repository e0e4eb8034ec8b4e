"""The script of a case for a backend: which system it is, and what the script has to show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.backends.base import Backend, Unsupported
from conformance.backends.discovery import find, load
from conformance.cases.case import Case
from conformance.judging.clause import AnyClause
from conformance.reproduce import jax_script, mpi_script, opencl_script, stablehlo_script, tinygrad_script, torch_script
from conformance.reproduce.frame import Program, script
from conformance.reproduce.identifiers import renamed
from conformance.reproduce.keyed_script import KEYED, WALKS, keyed_script, observed_by
from conformance.reproduce.source_text import AttributeNameError
from conformance.reproduce.symptom import symptom
from conformance.runner.meaning import meaning
from conformance.runner.replay import Replay, known_trial
from conformance.specification.sources import described


class ScriptError(ValueError):
    """A case for which there is no script; the message says why, and what would be right."""


Writer = Callable[[Case, Any], Program]

WRITERS: Final[Mapping[str, Writer]] = {
    "jax": lambda case, backend: jax_script.program(case, mapped=False, checked=backend.checked),
    "jax-vmap": lambda case, _: jax_script.program(case, mapped=True),
    "torch": lambda case, _: torch_script.program(case, "torch"),
    "torch-checked": lambda case, _: torch_script.program(case, "torch-checked"),
    "torch-functional": lambda case, _: torch_script.program(case, "torch-functional"),
    "stablehlo": lambda case, backend: stablehlo_script.program(case, channels=backend.channels),
    "mpi": mpi_script.program,
    "opencl": opencl_script.program,
    "tinygrad": lambda case, backend: tinygrad_script.program(case, backend.algorithm, backend.device),
}
"""For each framework, by ``Backend.system``, what writes its part of a script."""


def reproduction(case: Any, backend: Backend, shown: Replay) -> str:
    """Return a standalone script that shows with the framework alone what ``shown`` saw of ``backend``.

    Raise ``ScriptError`` where the backend has no framework behind it, or where nothing failed.
    """
    verdict = shown.verdict
    if verdict.blame is None:
        raise ScriptError(f"the case is {verdict.outcome} on {backend.name}: there is no failure to reproduce")
    if isinstance(case, KEYED):
        return _keyed(case, backend, shown, verdict.blame)
    if not isinstance(case, Case):
        raise ScriptError("a schedule has no script: `conformance replay` shows what was made")
    clause = verdict.blame
    named = renamed(case)
    seen = named.of(symptom(meaning(case), verdict, shown.observation))
    program = program_of(named.case, backend)
    return script(case, named, clause.id, clause.text, described(clause.source), seen, program)


def _keyed(case: Any, backend: Backend, shown: Replay, clause: AnyClause) -> str:
    verdict = shown.verdict
    told = {
        "case": known_trial(case).dialect.id_of(case),
        "clause": clause.id,
        "sentence": clause.text,
        "source": described(clause.source),
        "detail": " ".join((verdict.detail or "").split()),
        "outcome": verdict.outcome,
    }
    try:
        return keyed_script(case, backend, told, shown.observation, observed_by(load(find("reference")), case))
    except KeyError as error:
        known = ", ".join(" of ".join(reversed(each)) for each in WALKS)
        raise ScriptError(f"no script of this kind for {backend.name}; there are scripts of {known}") from error


def program_of(case: Case, backend: Backend) -> Program:
    """Return the part of the script that is the framework's; raise ``ScriptError`` where there is no framework.

    The values of the case bear names that may be identifiers (``conformance.reproduce.identifiers``).
    """
    writer = WRITERS.get(backend.system)
    if writer is None:
        raise ScriptError(
            f"{backend.name or type(backend).__name__} names no framework to write a script of; known are "
            f"{', '.join(WRITERS)}, and a backend says which by its attribute system"
        )
    try:
        return writer(case, backend)
    except (opencl_script.NothingEnqueuedError, AttributeNameError, Unsupported) as error:
        raise ScriptError(str(error)) from error
