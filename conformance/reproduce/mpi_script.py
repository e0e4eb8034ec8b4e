"""A case as a script of mpi4py alone, under ``mpiexec``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from conformance.backends.base import Backend
from conformance.cases.case import Case
from conformance.cases.program.effects import NamedValue, names
from conformance.cases.program.operations import row
from conformance.cases.program.program import COMPUTING, EFFECTS, Step, rank_groups
from conformance.reproduce.computing import computing_line, of_integers
from conformance.reproduce.effects import Words, aliased, effect_lines, storage_of
from conformance.reproduce.frame import Program
from conformance.reproduce.quote import Quotation
from conformance.reproduce.source_text import keywords, literal

DEFINITIONS = '''\
class Unsupported(NotImplementedError):
    """MPI has no such call."""


COMMUNICATORS = {}


def communicator_of(groups):
    """Return the communicator of this rank's group, whose members count in the order of the group."""
    if groups not in COMMUNICATORS:
        rank = MPI.COMM_WORLD.Get_rank()
        colour, members = next((colour, members) for colour, members in enumerate(groups) if rank in members)
        COMMUNICATORS[groups] = MPI.COMM_WORLD.Split(colour, members.index(rank))
    return COMMUNICATORS[groups]


class Started:
    def __init__(self, request, call):
        self.request, self.call = request, call

    def wait(self):
        self.request.Wait()
        return self.call.result()
'''

ENTRY = """\
def child():
    rank = MPI.COMM_WORLD.Get_rank()
    blocks = {name: placed(*ranks[rank]) for name, ranks in INPUTS.items()}
    try:
        results = {name: entry(value) for name, value in run(rank, blocks).items()}
    except Exception as error:
        told(rank, error=error)
    else:
        told(rank, results, changed=changed_inputs(rank, blocks))
"""

LAUNCHER = """\
["env", *{environment}, beside("mpiexec"), *{flags}, sys.executable, ME, CHILD]"""

WORDS: Final = Words(
    stored="{name} = {array} = {value}",
    copied="{name} = np.array({value})",
    assigned="{name}[...] = np.array({value})",
    waited="{name} = {value}.wait()",
    fills="{name}",
)


def program(case: Case, backend: Backend) -> Program:
    """Return the script's part for the MPI that mpi4py loads, with what its launcher needs."""
    from conformance.backends.mpi.library import loaded

    launch = loaded().launch(case.program.world)
    environment = [f"{name}={value}" for name, value in launch.environment.items()]
    quotation = Quotation(given=frozenset({"Unsupported"}))
    body = _body(case, quotation)
    return Program(
        needs="mpi4py with an MPI, ml_dtypes and numpy",
        setting=(),
        imports=tuple(dict.fromkeys(("from mpi4py import MPI", *quotation.imports))),
        definitions=(DEFINITIONS, *quotation.definitions.values()),
        body=body,
        launch=LAUNCHER.format(environment=literal(environment), flags=literal(tuple(launch.command[1:]))),
        entry=ENTRY,
    )


def _body(case: Case, quotation: Quotation) -> str:
    table = names(case)
    lines = [f"{name} = {storage_of(name)} = blocks[{literal(name)}]" for name in case.inputs]
    groups = dict.fromkeys(rank_groups(case.program.mesh, step.axes, step.groups) for step in case.program.collectives)
    lines += [f"communicator_of({literal(each)})" for each in groups]
    for index, step in enumerate(case.program.steps):
        for fault in case.faults:
            if fault.before == index and fault.delay is not None:
                lines.append(f"if rank == {literal(fault.rank)}:\n        time.sleep({literal(fault.delay)})")
        if step.op in COMPUTING:
            lines.append(computing_line(step, step.inputs, step.outputs[0], "np", whole=of_integers(case, step)))
        elif step.op in EFFECTS:
            lines += effect_lines(step, table, WORDS)
        else:
            lines += _collective(case, index, step, table, quotation)
    made = ", ".join(f"{literal(name)}: {name}" for name in case.program.results)
    return "\n".join(["def run(rank, blocks):", *(f"    {line}" for line in lines), f"    return {{{made}}}"])


def _collective(
    case: Case, index: int, step: Step, table: Mapping[str, NamedValue], quotation: Quotation
) -> Iterator[str]:
    from conformance.backends.mpi.datatypes import Datatypes
    from conformance.backends.mpi.messages import TAGGED, TOKENS
    from conformance.backends.mpi.operations import ALONE, CALLS

    said = "".join(f", {each}" for each in keywords(step.attrs, row(step.op).attributes))
    targets = step.into or ("None",) * len(step.outputs)
    yield f"comm = communicator_of({literal(rank_groups(case.program.mesh, step.axes, step.groups))})"
    if step.op in ALONE:
        quotation.add(ALONE[step.op])
        yield f"{(step.outputs or ('_',))[0]} = {step.op}(comm{said})"
    elif step.idle:
        for taken, made, target in zip(step.inputs, step.outputs, targets, strict=True):
            yield f"{made} = {taken}.copy()" if target == "None" else f"{target}[...] = {taken}; {made} = {target}"
    elif step.op in TOKENS:
        quotation.add(TOKENS[step.op])
        for taken, made in zip(step.inputs, step.outputs, strict=True):
            yield f"{made} = {step.op}({taken}, comm, {index}{said})"
    else:
        function = {**CALLS, **TAGGED}[step.op]
        quotation.add(function, Datatypes)
        tag = f", {index}" if step.op in TAGGED else ""
        for taken, made, target in zip(step.inputs, step.outputs, targets, strict=True):
            yield "with Datatypes() as described:"
            yield f"    call = {function.__name__}({taken}, {target}, comm, described{tag}{said})"
            if step.start:
                yield f"    {made} = Started(getattr(comm, 'I' + call.name.lower())(*call.arguments), call)"
            else:
                yield "    getattr(comm, call.name)(*call.arguments)"
                yield f"    {made} = call.result()"
    yield from (f"{storage_of(made)} = {storage_of(old)}" for made, old in aliased(step, table))
