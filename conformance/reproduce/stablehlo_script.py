"""A case as a script of StableHLO's reference interpreter alone: the module as text, and its evaluation."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.reproduce.frame import Program
from conformance.reproduce.quote import Quotation
from conformance.reproduce.source_text import constructed, literal, text_literal

BODY = """\
PROGRAM = Module(
    text={text},
    world={world},
    inputs={inputs},
    taken={taken},
    results={results},
)


def run(inputs):
    blocks = [inputs[name][rank] for rank in range(WORLD) for name in PROGRAM.inputs]
    read = Interpreter().evaluate(PROGRAM, blocks)
    names = {names}
    return {{name: read[at :: len(names)] for at, name in enumerate(names)}}
"""


def program(case: Case, *, channels: bool) -> Program:
    """Return the script's part for ``stablehlo``, or for ``stablehlo-channels``."""
    from conformance.backends.stablehlo import types_of
    from conformance.backends.stablehlo.elements import SsaValue
    from conformance.backends.stablehlo.interpreter import Interpreter
    from conformance.backends.stablehlo.module import Module, module

    made = module(case.program, types_of(case), channels=channels)
    quoted = Quotation().add(Interpreter, Module, SsaValue)
    body = BODY.format(
        text=text_literal(made.text),
        world=literal(made.world),
        inputs=literal(made.inputs),
        taken=constructed(made.taken, quoted.name_of),
        results=constructed(made.results, quoted.name_of),
        names=literal(case.program.results),
    )
    return Program(
        needs="jaxlib, jax, ml_dtypes and numpy",
        setting=(),
        imports=tuple(quoted.imports),
        definitions=tuple(quoted.definitions.values()),
        body=body,
    )
