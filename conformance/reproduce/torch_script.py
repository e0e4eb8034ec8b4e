"""A case as a script of Torch alone: a process a rank, over gloo."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

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
    """Torch has no such call."""


CARRIED = {"bfloat16": np.int16, "float8_e4m3fn": np.uint8, "float8_e5m2": np.uint8}
GROUPS = {}


def tensor(block):
    """Return a tensor on the memory of the block."""
    name = str(block.dtype)
    return torch.from_numpy(block.view(CARRIED[name])).view(getattr(torch, name)) if name in CARRIED else torch.from_numpy(block)


def block_of(value):
    if value is None:
        return None
    name = str(value.dtype).removeprefix("torch.")
    if name in CARRIED:
        carrier = getattr(torch, np.dtype(CARRIED[name]).name)
        return value.contiguous().view(carrier).numpy().view(dtype_of(name))
    return value.numpy()


def group_of(groups):
    """Return the process group that this rank is in; every rank makes all of them, in one order."""
    for members in groups:
        if members not in GROUPS:
            everybody = members == tuple(range(WORLD))
            GROUPS[members] = dist.group.WORLD if everybody else dist.new_group(list(members), timeout=PATIENCE, sort_ranks=False)
    return next(GROUPS[members] for members in groups if dist.get_rank() in members)
'''

ENTRY = '''\
PATIENCE = timedelta(seconds=10)


def child():
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store")
        ranks = {os.fork() or life(rank, store): rank for rank in range(WORLD)}
        for process in ranks:
            os.waitpid(process, 0)


def life(rank, store):
    """Be one rank; the process ends here."""
    meeting = dist.FileStore(store, WORLD)
    dist.init_process_group("gloo", store=meeting, rank=rank, world_size=WORLD, timeout=PATIENCE)
    meeting.set(f"ready {rank}", "1")
    meeting.wait([f"ready {each}" for each in range(WORLD)])  # who raises at once ends, and others would not connect
    blocks = {name: placed(*ranks[rank]) for name, ranks in INPUTS.items()}
    try:
        results = {name: entry(block_of(value)) for name, value in run(rank, blocks).items()}
    except Exception as error:
        told(rank, error=error)
    else:
        told(rank, results, changed=changed_inputs(rank, blocks))
    os._exit(0)
'''

WORDS: Final = Words(
    stored="{array} = {value}\n{name} = tensor({array})",
    copied="{name} = {value}.clone()",
    assigned="{name}.copy_({value})",
    waited="{name} = wait({value})",
    fills="{array}",
)


def program(case: Case, system: str) -> Program:
    """Return the script's part for ``torch``, ``torch-functional`` or ``torch-checked``."""
    operations = _operations(system)
    quotation = Quotation(given=frozenset({"Unsupported"}))
    body = _body(case, operations, quotation)
    checked = ('os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"',) if system == "torch-checked" else ()
    imports = ("import torch", "import torch.distributed as dist", *quotation.imports)
    return Program(
        needs="torch, ml_dtypes and numpy",
        setting=(
            "import tempfile",
            "import warnings",
            "from datetime import timedelta",
            "",
            'os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")',
            *checked,
            'warnings.filterwarnings("ignore", message="The given NumPy array is not writable")',
        ),
        imports=tuple(dict.fromkeys(imports)),
        definitions=(DEFINITIONS, *quotation.definitions.values()),
        body=body,
        entry=ENTRY,
    )


def _operations(system: str) -> Mapping[str, Callable[..., Any]]:
    if system == "torch-functional":
        from conformance.backends.torch import functional

        return functional.OPERATIONS
    from conformance.backends.torch import c10d, c10d_forms

    return {**c10d.OPERATIONS, **c10d_forms.FORMS}


def _body(case: Case, operations: Mapping[str, Callable[..., Any]], quotation: Quotation) -> str:
    table = names(case)
    lines = [
        f"{storage_of(name)} = blocks[{literal(name)}]\n    {name} = tensor({storage_of(name)})" for name in case.inputs
    ]
    if case.troubled:
        made = dict.fromkeys(
            rank_groups(case.program.mesh, step.axes, step.groups) for step in case.program.collectives
        )
        lines += [f"group_of({literal(groups)})" for groups in made]
    for index, step in enumerate(case.program.steps):
        for fault in case.faults:
            if fault.before == index:
                what = (
                    "os.kill(os.getpid(), signal.SIGKILL)"
                    if fault.delay is None
                    else f"time.sleep({literal(fault.delay)})"
                )
                lines.append(f"if rank == {literal(fault.rank)}:\n        {what}")
        of_step = list(_step(case, step, table, operations, quotation))
        if step.ranks is not None:
            none = [f"{name} = None" for name in step.outputs]
            lines += [f"if rank in {literal(step.ranks)}:", *(f"    {line}" for line in of_step)]
            lines += ["else:", *(f"    {line}" for line in none)] if none else []
        else:
            lines += of_step
    made_of = ", ".join(f"{literal(name)}: {name}" for name in case.program.results)
    return "\n".join(["def run(rank, blocks):", *(f"    {line}" for line in lines), f"    return {{{made_of}}}"])


def _step(
    case: Case,
    step: Step,
    table: Mapping[str, NamedValue],
    operations: Mapping[str, Callable[..., Any]],
    quotation: Quotation,
) -> Iterator[str]:
    if step.op in COMPUTING:
        yield computing_line(step, step.inputs, step.outputs[0], "torch", whole=of_integers(case, step))
        return
    if step.op in EFFECTS:
        yield from effect_lines(step, table, WORDS)
        return
    if step.idle and step.inputs and len(step.inputs) == len(step.outputs):
        targets = step.into or (None,) * len(step.outputs)
        for name, made, target in zip(step.inputs, step.outputs, targets, strict=True):
            yield f"{made} = {name}.clone()" if target is None else f"{made} = {target}.copy_({name})"
        return
    groups = rank_groups(case.program.mesh, step.axes, step.groups)
    yield f"group = group_of({literal(groups)})"
    name = f"start_{step.op}" if step.into or step.start else step.op
    operation = operations.get(name)
    if operation is None:
        yield f"raise Unsupported({literal(f'no {name}')})"
        return
    yield from _called(step, operation, quotation)
    for made, old in aliased(step, table):
        yield f"{storage_of(made)} = {storage_of(old)}"


def _called(step: Step, operation: Callable[..., Any], quotation: Quotation) -> Iterator[str]:
    said = "".join(f", {each}" for each in keywords(step.attrs, row(step.op).attributes))
    style, function = _plain(inspect.unwrap(operation))
    quotation.add(function)
    call = function.__name__
    if style == "list":
        if len(step.inputs) < 2:  # A function given several may put others into the list.
            yield f"{_left(step.outputs)} = {call}([{', '.join(step.inputs)}], group{said})"
            return
        yield f"operands = [{', '.join(step.inputs)}]"
        yield f"{_left(step.outputs)} = {call}(operands, group{said})"
        yield f"{_left(step.inputs)} = operands"
        return
    targets = step.into or ("None",) * len(step.outputs)
    for taken, made, target in zip(step.inputs, step.outputs, targets, strict=True):
        if style == "one":
            yield f"{made} = {call}({taken}, group{said})"
        elif style == "form":
            from conformance.backends.torch.operation import wait

            quotation.add(wait)
            begun = f"{call}({taken}, group, {target}{said})"
            yield f"{made} = {begun}" if step.start else f"{made} = wait({begun})"
        else:
            from conformance.backends.torch.functional import wait as waited

            quotation.add(waited)
            begun = f"{call}({taken}, group, {target}{said})"
            yield f"{made} = {begun}" if step.start else f"{made} = wait({begun})"


def _plain(operation: Callable[..., Any]) -> tuple[str, Any]:
    """Return how an entry of a table of operations is called, and the function of a framework's words behind it."""
    inside = [
        inspect.unwrap(cell.cell_contents) for cell in operation.__closure__ or () if callable(cell.cell_contents)
    ]
    if not inside:
        return ("form" if "out" in operation.__code__.co_varnames[:3] else "list"), operation
    if operation.__qualname__.startswith("mapped."):
        style, function = _plain(inside[0]) if inside[0].__closure__ else ("one", inside[0])
        return style, function
    return "start", inside[0]


def _left(outputs: tuple[str, ...]) -> str:
    return ", ".join(outputs) + ("," if len(outputs) == 1 else "") if outputs else "_"
