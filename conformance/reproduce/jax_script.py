"""A case as a script of JAX alone: under ``shard_map`` over virtual CPU devices, or under ``vmap`` with named axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from conformance.cases.case import Case
from conformance.cases.program.effects import NamedValue, names
from conformance.cases.program.operations import row
from conformance.cases.program.program import COMPUTING, Step
from conformance.reproduce.computing import computing_line, of_integers
from conformance.reproduce.frame import Program
from conformance.reproduce.quote import Quotation
from conformance.reproduce.source_text import keywords, literal

SETTING = (
    'os.environ["JAX_PLATFORMS"] = "cpu"',
    'os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count={devices} "'
    ' "--xla_cpu_collective_call_warn_stuck_timeout_seconds=2 --xla_cpu_collective_call_terminate_timeout_seconds=4"',
)

IMPORTS = (
    "import jax",
    "from jax import lax",
    "from jax import numpy as jnp",
    "from jax.sharding import Mesh, NamedSharding, PartitionSpec",
)

UNSUPPORTED = '''\
class Unsupported(NotImplementedError):
    """JAX has no such call."""
'''

SHARDED = """\
jax.config.update("jax_enable_x64", True)
MESH = Mesh(np.array(jax.devices()[:WORLD]).reshape({sizes}), {axes})
SPLIT = NamedSharding(MESH, PartitionSpec(MESH.axis_names))  # a leading axis with one block a rank
OWN = (slice(0, 1),)


def put(blocks):
    shape = (WORLD, *blocks[0].shape)
    return jax.make_array_from_callback(shape, SPLIT, lambda index: blocks[index[0].start or 0][None])


def blocks_of(value):
    held = {{shard.device: np.asarray(shard.data) for shard in value.addressable_shards}}
    return [held[device][0, ...] for device in MESH.devices.flat]


def on_all_ranks(function):
    def one(refs, *arrays):
        blocks = [{{name: lax.squeeze(x, (0,)) for name, x in each.items()}} for each in arrays]
        return {{name: lax.expand_dims(x, (0,)) for name, x in function(refs, *blocks).items()}}

    mapped = jax.shard_map(one, mesh=MESH, in_specs=SPLIT.spec, out_specs=SPLIT.spec, check_vma={checked})
    return jax.jit(mapped, donate_argnums=1)
"""

VMAPPED = """\
jax.config.update("jax_enable_x64", True)
SIZES, AXES = {sizes}, {axes}
OWN = ()


def put(blocks):
    return np.stack(blocks).reshape([*SIZES, *blocks[0].shape])


def blocks_of(value):
    found = np.asarray(value)
    return [found[(*position, ...)] for position in np.ndindex(found.shape[: len(SIZES)])]


def on_all_ranks(function):
    for name, size in reversed(list(zip(AXES, SIZES))):
        function = jax.vmap(function, axis_name=name, axis_size=size)
    return jax.jit(function, donate_argnums=1)
"""

RUN = """\
def run(inputs):
    values = {{name: put(blocks) for name, blocks in inputs.items()}}
    made = on_all_ranks(program)({{}}, {{}}, values)
    return {{name: blocks_of(made[name]) for name in {results}}}
"""


def program(case: Case, *, mapped: bool, checked: bool = True) -> Program:
    """Return the script's part for ``jax``, or for ``jax-vmap`` where ``mapped``; ``checked`` as by default or not."""
    from conformance.backends.jax import effectful

    sizes, axes = [axis.size for axis in case.program.mesh], tuple(axis.name for axis in case.program.mesh)
    layout = (VMAPPED if mapped else SHARDED).format(sizes=literal(sizes), axes=literal(axes), checked=literal(checked))
    body = "\n\n".join(_dispatched(case)) if effectful(case.program) else _whole(case)
    quoted = _functions(case)
    return Program(
        needs="jax, ml_dtypes and numpy",
        setting=tuple(line.format(devices=max(8, case.program.world)) for line in SETTING),
        imports=tuple(dict.fromkeys((*IMPORTS, *quoted.imports))),
        definitions=(UNSUPPORTED, layout, *quoted.definitions.values()),
        body=body,
    )


def _functions(case: Case) -> Quotation:
    from conformance.backends.jax.collectives import MAPPED, WHOLE

    quotation = Quotation(given=frozenset({"Unsupported"}))
    for step in case.program.collectives:
        if step.op in MAPPED or step.op in WHOLE:
            quotation.add((MAPPED | WHOLE)[step.op])
    return quotation


def _whole(case: Case) -> str:
    lines = ["def program(refs, given, values):"]
    lines += [f"    {name} = values[{literal(name)}]" for name in case.inputs]
    for step in case.program.steps:
        lines += [f"    {line}" for line in _called(case, step, list(step.inputs), list(step.outputs))]
    made = ", ".join(f"{literal(name)}: {name}" for name in case.program.results)
    return "\n".join([*lines, f"    return {{{made}}}", "", "", RUN.format(results=literal(case.program.results))])


def _called(case: Case, step: Step, operands: list[str], results: list[str]) -> Iterator[str]:
    from conformance.backends.jax.collectives import WHOLE

    if step.op in COMPUTING:
        yield computing_line(step, operands, results[0], "jnp", whole=of_integers(case, step))
        return
    axis = step.axes[0] if len(step.axes) == 1 else step.axes
    given = {"axis_name": axis, "groups": step.groups, **step.attrs}
    said = ", ".join(keywords(given, ("axis_name", "groups", *row(step.op).attributes)))
    if step.op in WHOLE:
        yield f"{results[0]} = {step.op}({', '.join([*operands, said])})"
    elif len(operands) == 1:
        yield f"{results[0]} = {step.op}({operands[0]}, {said})"
    else:
        left = f"{', '.join(results)}{',' if len(results) == 1 else ''}" if results else "_"
        taken = f"({', '.join(operands)}{',' if len(operands) == 1 else ''})"
        yield f"{left} = {step.op}({taken}, {said})"


@dataclass
class _Dispatch:
    """The lines of a program whose steps are dispatched one after the other."""

    case: Case
    table: dict[str, NamedValue]
    donated: frozenset[str]
    functions: list[str]
    lines: list[str]

    def mutable(self, name: str) -> bool:
        return self.table[name].kind == "storage" and self.table[name].base not in self.donated

    def held(self, name: str) -> str:
        base = self.table[name].base
        return base if base in self.donated else name


def _dispatched(case: Case) -> list[str]:
    """Return the functions of the steps and ``run``: a buffer is a ``Ref``, or donated where it is always replaced."""
    from conformance.backends.jax.effects import donated

    table = names(case)
    state = _Dispatch(case, table, donated(case.program, table), [], [])
    for number, step in enumerate(case.program.steps):
        _perform(state, number, step)
    results = []
    for name in case.program.results:
        if state.mutable(name):
            read = Step(op="copy", inputs=(name,), outputs=(f"{name}_read",), axes=())
            _call(state, len(state.functions) + 1000, read)
            results.append(f"{literal(name)}: blocks_of({name}_read)")
        else:
            results.append(f"{literal(name)}: blocks_of({state.held(name)})")
    begin = [f"{name} = put(inputs[{literal(name)}])" for name in case.inputs]
    lines = ["def run(inputs):", *(f"    {line}" for line in (*begin, *state.lines))]
    return [*state.functions, "\n".join([*lines, f"    return {{{', '.join(results)}}}"])]


def _perform(state: _Dispatch, number: int, step: Step) -> None:
    (first,) = step.inputs[:1] or ("",)
    if step.op == "buffer":
        made = (
            f"jnp.array({first}, copy=True)"
            if step.outputs[0] in state.donated
            else f"jax.new_ref(jnp.asarray({first}))"
        )
        state.lines.append(f"{step.outputs[0]} = {made}")
    elif step.op == "free":
        state.lines.append(f"del {first}" if first in state.donated else f"jax.freeze({first})")
    elif step.op == "done":
        taken = ", ".join(state.held(name) for name in step.inputs)
        state.lines.append(f"{', '.join(step.outputs)}, = jax.block_until_ready([{taken}])")
    elif step.op != "view":
        _call(state, number, step)


def _call(state: _Dispatch, number: int, step: Step) -> None:
    used = (*step.inputs, *step.into)
    bases = list(dict.fromkeys(state.table[name].base for name in used if state.mutable(name)))
    given = [at for at, name in enumerate(step.into) if state.table[name].base in state.donated]
    passed = {"refs": {}, "given": {}, "values": {}}  # type: dict[str, dict[str, str]]
    passed["refs"] = {base: base for base in bases}
    passed["given"] = {str(at): state.held(step.into[at]) for at in given}
    operands, before = [], []
    for at, name in enumerate(step.inputs):
        if state.mutable(name):
            before.append(f"operand_{at} = {_read(state, name)}")
            operands.append(f"operand_{at}")
        elif at in given:
            operands.append(f'given["{at}"]')
        else:
            passed["values"][str(at)] = state.held(name)
            operands.append(f'values["{at}"]')
    results = [f"made_{at}" for at in range(len(step.outputs))]
    if step.op == "assign":
        body = [*before, *_write(state, step.inputs[0], operands[1]), "return {}"]
        results = []
    else:
        calls = (
            [f"{results[0]} = jnp.copy({operands[0]})"]
            if step.op == "copy"
            else list(_called(state.case, step, operands, results))
        )
        after = [
            line for at, name in enumerate(step.into) if at not in given for line in _write(state, name, f"made_{at}")
        ]
        table = ", ".join(f'"{at}": {name}' for at, name in enumerate(results))
        body = [*before, *calls, *after, f"return {{{table}}}"]
    state.functions.append("\n".join([f"def step_{number}(refs, given, values):", *(f"    {line}" for line in body)]))
    arguments = ", ".join(
        "{" + ", ".join(f'"{key}": {value}' for key, value in table.items()) + "}" for table in passed.values()
    )
    state.lines.append(f"made = on_all_ranks(step_{number})({arguments})")
    state.lines += [f'{state.held(step.into[at])} = made["{at}"]' for at in given]
    state.lines += [f'{name} = made["{at}"]' for at, name in enumerate(step.outputs) if step.op != "assign"]


def _index(state: _Dispatch, name: str) -> str:
    slices = [f"slice({s.start}, {s.stop}, {s.step})" for s in state.table[name].regions[0].index]
    return f"(*OWN, {''.join(each + ', ' for each in slices)}) or ..." if slices else "OWN or ..."


def _read(state: _Dispatch, name: str) -> str:
    what: Any = state.table[name]
    return f"jnp.transpose(lax.squeeze(refs[{literal(what.base)}][{_index(state, name)}], range(len(OWN))), {literal(what.regions[0].order)})"


def _write(state: _Dispatch, name: str, value: str) -> list[str]:
    what: Any = state.table[name]
    order = what.regions[0].order
    back = tuple(order.index(axis) for axis in range(len(order)))
    return [
        f"refs[{literal(what.base)}][{_index(state, name)}] = lax.expand_dims(jnp.transpose({value}, {literal(back)}), range(len(OWN)))"
    ]
