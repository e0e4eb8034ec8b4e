"""A case as a script of tinygrad alone, over devices of one process."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.cases.case import Case
from conformance.cases.program.operations import row
from conformance.cases.program.program import NO_COLLECTIVES, Step, rank_groups
from conformance.reproduce.effects import storage_of, window_of
from conformance.reproduce.frame import Program
from conformance.reproduce.quote import Quotation
from conformance.reproduce.source_text import keywords, literal

DEFINITIONS = '''\
class Unsupported(NotImplementedError):
    """tinygrad has no such call."""


def on_groups(function, blocks, groups, **attrs):
    """Return what a function makes of the blocks of each group, on the devices of its members."""
    out = [None] * WORLD
    for members in groups:
        devices = tuple(f"{DEVICE}:{rank}" for rank in members)
        with lowered(ALGORITHM):
            made = function([blocks[rank] for rank in members], devices, **attrs)
        for rank, block in zip(members, made):
            out[rank] = block
    return out
'''


def program(case: Case, algorithm: str, device: str) -> Program:
    """Return the script's part for tinygrad, whose reductions over devices are lowered to ``algorithm``."""
    from conformance.backends.tinygrad import collectives

    quotation = Quotation(given=frozenset({"Unsupported", "NUMPY", "logical", "kind"})).add(collectives.lowered)
    lines = [f"{name} = {storage_of(name)} = inputs[{literal(name)}]" for name in case.inputs]
    for step in case.program.steps:
        lines += _effect(step) if step.op in NO_COLLECTIVES else _collective(case, step, quotation)
    made = ", ".join(f"{literal(name)}: {name}" for name in case.program.results)
    body = "\n".join(["def run(inputs):", *(f"    {line}" for line in lines), f"    return {{{made}}}"])
    return Program(
        needs="tinygrad, ml_dtypes and numpy",
        # tinygrad takes its device from the environment when it is imported.
        setting=(f"DEVICE, ALGORITHM = {literal(device)}, {literal(algorithm)}", 'os.environ["DEV"] = DEVICE'),
        imports=tuple(quotation.imports),
        definitions=(_DTYPES, DEFINITIONS, *quotation.definitions.values()),
        body=body,
    )


_DTYPES = """\
class NUMPY(dict):
    def __missing__(self, name):
        return dtype_of(name)


NUMPY = NUMPY()


def logical(dtype):
    return str(dtype)


def kind(name):
    return "bool" if name == "bool" else "integer" if "int" in name else "complex" if "complex" in name else "float"
"""


def _collective(case: Case, step: Step, quotation: Quotation) -> Iterator[str]:
    from conformance.backends.tinygrad import collectives

    function = getattr(collectives, step.op, None)
    if function is None or step.into or step.start:
        yield f"raise Unsupported({literal(f'no such {step.op}')})"
        return
    quotation.add(function)
    attrs = {"local_axes": (), **step.attrs} if step.op == "all_reduce" else step.attrs
    attrs = {name: value for name, value in attrs.items() if name != "factor"}
    said = "".join(f", {each}" for each in keywords(attrs, row(step.op).attributes))
    groups = rank_groups(case.program.mesh, step.axes, step.groups)
    for taken, made in zip(step.inputs, step.outputs, strict=True):
        if step.idle:
            yield f"{made} = [block.copy() for block in {taken}]"
        else:
            yield f"{made} = on_groups({step.op}, {taken}, {literal(groups)}{said})"


def _effect(step: Step) -> Iterator[str]:
    first = step.inputs[0] if step.inputs else ""
    if step.op == "buffer":
        yield f"{step.outputs[0]} = {storage_of(step.outputs[0])} = [placed(*each) for each in INPUTS[{literal(first)}]]"
    elif step.op == "view":
        each = window_of(step).replace(storage_of(first), "block", 1)
        yield f"{step.outputs[0]} = {storage_of(step.outputs[0])} = [{each} for block in {storage_of(first)}]"
    elif step.op == "copy":
        yield f"{step.outputs[0]} = [np.array(block) for block in {first}]"
    elif step.op == "assign":
        yield f"for target, block in zip({first}, [np.array(block) for block in {step.inputs[1]}]):"
        yield "    target[...] = block"
    else:
        yield f"raise Unsupported({literal(f'no {step.op}')})"
