"""pushed+sum+multiply/bfloat16-2/12e155b5aa66

Expected (pushes.C2, source ours (what no source settles, or sources settle differently)): The tangent of a product is the sum of each factor's tangent times the other factor.
Observed: raised JaxRuntimeError: UNKNOWN: <unknown>:0: error: loc("jit(inside)/shard_map"): 'func.call' op expected at least one operand of @xla.sdy.manual_computation_body.1 to be produced by a xla.sdy.GlobalToLocalShape CustomCallOp

Needs jax, msgspec, ml_dtypes and numpy. Exit status: 1 while this is so, 0 when it is not, 2 when it could not be run.
"""


import json
import os
import signal
import subprocess
import sys

ME, CHILD = os.path.abspath(__file__), "--child"
LIMIT = 120  # seconds; who has not answered by then hangs
OUTCOME, ERROR = 'raised', 'JaxRuntimeError'
EXPECTED = {'v0': [['bfloat16', [2], '00000000'], ['bfloat16', [2], '00000000']], 'v1': [['bfloat16', [2], '00000000'], ['bfloat16', [2], '00000000']]}
OBSERVED = {}


def ask():
    """Run this script as a child; return its answer, or None, and how it ended."""
    process = subprocess.Popen([sys.executable, ME, CHILD], stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        text, hung = process.communicate(timeout=LIMIT)[0], False
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        text, hung = process.communicate()[0], True
    lines = [json.loads(line[7:]) for line in text.splitlines() if line.startswith("ANSWER ")]
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
    for word, table in (("expected", EXPECTED), ("observed", (answer or {}).get("results") or {})):
        print(word)
        for key, blocks in table.items():
            print(f"    {key}: {blocks}")
    if answer is None:
        print(f"    no answer: {'it hung' if hung else f'exit status {status}'}")
    elif answer["error"]:
        print(f"    raised {': '.join(answer['error'])}")
    bug = shows(answer, hung, status)
    print("this does not tell" if bug is None else "the bug is there" if bug else "the bug is not there")
    return 2 if bug is None else int(bug)


if CHILD not in sys.argv:
    sys.exit(main())


os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import jax
jax.config.update("jax_enable_x64", True)


from jax._src import core
import msgspec
from typing import get_args
from typing import Literal
from typing import cast
from jax._src.lax import parallel
from collections.abc import Callable
from typing import Any
from jax import lax
import jax
import numpy as np
from contextlib import ContextDecorator
from traceback import walk_tb
import contextlib
from jax._src import config
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec
from typing import NamedTuple
import ml_dtypes
import math


State = Literal['invariant', 'varying', 'unreduced', 'reduced']


STATES = get_args(State)


def of(states):
    """Return the type with these states by axis; every other axis is invariant."""
    return AxisType(**{each: tuple(sorted((a for a, s in states.items() if s == each))) for each in STATES[1:]})


class AxisType(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The axes along which a value is varying, unreduced or reduced, each in the order of the alphabet.

    It is invariant along every other axis. No axis is in two of the three.
    """
    varying: object = ()
    unreduced: object = ()
    reduced: object = ()

    def __post_init__(self):
        """Raise ``ValueError`` where an axis is named twice, or axes are not in order."""
        named = (*self.varying, *self.unreduced, *self.reduced)
        if len(set(named)) != len(named):
            raise ValueError(f'an axis has one state; got {self}')
        if any((list(axes) != sorted(axes) for axes in (self.varying, self.unreduced, self.reduced))):
            raise ValueError(f'the axes of a state are in the order of the alphabet; got {self}')

    def state(self, axis):
        """Return the state along one axis."""
        if axis in self.varying:
            return 'varying'
        if axis in self.unreduced:
            return 'unreduced'
        return 'reduced' if axis in self.reduced else 'invariant'

    def states(self, axes):
        """Return the states along several axes."""
        return frozenset((self.state(axis) for axis in axes))

    def along(self, axes, state):
        """Return the type that has ``state`` along ``axes`` and is the same along all others."""
        return of(self.by_axis | dict.fromkeys(axes, state))

    @property
    def by_axis(self):
        """Return the state along each axis that is not invariant."""
        found = dict.fromkeys(self.varying, 'varying')
        return found | dict.fromkeys(self.unreduced, 'unreduced') | dict.fromkeys(self.reduced, 'reduced')

    def __str__(self):
        """Return the words of the type, ``varying i, j; reduced k``."""
        words = ((state, getattr(self, state)) for state in STATES[1:])
        return '; '.join((f"{state} {', '.join(axes)}" for state, axes in words if axes)) or 'invariant'


def _type_of(value):
    aval = core.typeof(value)
    mat = (aval.inner_aval if isinstance(aval, core.AbstractFuture) else aval).mat
    varying, unreduced, reduced = (tuple(sorted(axes)) for axes in (mat.varying, mat.unreduced, mat.reduced))
    return AxisType(varying=varying, unreduced=unreduced, reduced=reduced)


class Unsupported(NotImplementedError):
    """The implementation has no such operation, dtype or option, and says so."""


def _check_done(program, step):
    """Raise ``Unsupported`` for the done of another operation than was started: a ``Future`` carries its own."""
    started = program.started.get(step.inputs[0]) if step.op == 'done' else None
    if started not in (None, step.attrs.get('of')):
        raise Unsupported(f"JAX's Future of {started} has a done of its own, and none of {step.attrs['of']} can be asked")


GROUPED = frozenset({'all_gather', 'all_reduce', 'all_to_all', 'ragged_all_to_all', 'reduce_scatter'})


STARTS = {'all_gather': parallel.all_gather_start, 'all_reduce': parallel.psum_start, 'all_to_all': parallel.all_to_all_start, 'broadcast': parallel.pbroadcast_start, 'permute': parallel.ppermute_start, 'reduce_scatter': parallel.psum_scatter_start}


def _started(step, operand):
    """Return the operand of a done: what JAX wraps for its users, who call the done of the same operation on it."""
    rest = {'axis_index_groups': step.groups} if step.op in GROUPED else {}
    axes = step.axes
    if step.op == 'all_reduce':
        axes = (*axes, *cast('tuple[int, ...]', step.attrs.get('local_axes', ())))
    elif step.op == 'all_gather':
        rest |= {**step.attrs}
    elif step.op == 'permute':
        rest |= {'perm': step.attrs['pairs']}
    elif step.op == 'broadcast':
        rest |= {'source': step.attrs['root']}
    elif step.op == 'reduce_scatter':
        rest |= {'scatter_dimension': step.attrs['axis'], 'tiled': step.attrs['tiled']}
    elif step.op == 'all_to_all':
        rest |= {**step.attrs}
    return STARTS[step.op](operand, axes, **rest).x


Operation = Callable[..., Any]


def _by_name(*functions: Operation):
    return {function.__name__: function for function in functions}


REDUCTIONS = {'sum': lax.psum, 'mean': lax.pmean, 'max': lax.pmax, 'min': lax.pmin}


def all_reduce(x, *, axis_name, groups, op, local_axes=(), factor=1.0):
    """Return ``psum``, ``pmean``, ``pmax`` or ``pmin``; raise ``Unsupported`` for any other reduction.

    ``local_axes`` stand behind the names, as JAX has positional axes. ``factor`` is for a reduction it does not have.
    """
    del factor
    if op not in REDUCTIONS:
        raise Unsupported(f"JAX has no all-reduce {op!r}; it has {', '.join(REDUCTIONS)}")
    names = axis_name if isinstance(axis_name, tuple) else (axis_name,)
    axes = (*names, *local_axes) if local_axes else axis_name
    return REDUCTIONS[op](x, axes, axis_index_groups=groups)


POSITIONS = {'max': parallel.pargmax, 'min': parallel.pargmin}


def _no_groups(function, groups):
    if groups is not None:
        raise Unsupported(f"JAX's {function} takes no groups; it spans the whole axis")


def arg_reduce(x, *, axis_name, groups, op):
    """Return ``pargmax`` or ``pargmin``; raise ``Unsupported`` for any other reduction and for groups."""
    if op not in POSITIONS:
        raise Unsupported(f"JAX has no arg-reduce {op!r}; it has {', '.join(POSITIONS)}")
    _no_groups(f'parg{op}', groups)
    return POSITIONS[op](x, axis_name)


def all_gather(x, *, axis_name, groups, axis, tiled):
    """Return ``all_gather``."""
    return lax.all_gather(x, axis_name, axis_index_groups=groups, axis=axis, tiled=tiled)


def reduce_scatter(x, *, axis_name, groups, op, axis, tiled, factor=1.0):
    """Return ``psum_scatter``; raise ``Unsupported`` for any reduction but the sum, which has no ``factor``."""
    del factor
    if op != 'sum':
        raise Unsupported(f'JAX has no reduce-scatter {op!r}; it has sum')
    return lax.psum_scatter(x, axis_name, scatter_dimension=axis, axis_index_groups=groups, tiled=tiled)


def all_to_all(x, *, axis_name, groups, split_axis, concat_axis, tiled):
    """Return ``all_to_all``."""
    return lax.all_to_all(x, axis_name, split_axis, concat_axis, axis_index_groups=groups, tiled=tiled)


def permute(x, *, axis_name, groups, pairs):
    """Return ``ppermute``; raise ``Unsupported`` for groups."""
    _no_groups('ppermute', groups)
    return lax.ppermute(x, axis_name, pairs)


def shuffle(x, *, axis_name, groups, sources):
    """Return ``pshuffle``; raise ``Unsupported`` for groups."""
    _no_groups('pshuffle', groups)
    return lax.pshuffle(x, axis_name, sources)


def broadcast(x, *, axis_name, groups, root):
    """Return ``pbroadcast``; raise ``Unsupported`` for groups."""
    _no_groups('pbroadcast', groups)
    return lax.pbroadcast(x, axis_name, root)


def send(x, *, axis_name, groups, pairs):
    """Return the token of ``psend``; raise ``Unsupported`` for groups."""
    _no_groups('psend', groups)
    return lax.psend(x, axis_name, pairs)


def recv(token, *, axis_name, groups, pairs, shape, dtype):
    """Return what ``precv`` takes off after ``token``; raise ``Unsupported`` for groups."""
    _no_groups('precv', groups)
    return lax.precv(token, jax.ShapeDtypeStruct(shape, np.dtype(dtype)), axis_name, pairs)


MAPPED = _by_name(all_reduce, arg_reduce, all_gather, reduce_scatter, all_to_all, permute, shuffle, broadcast, send, recv)


def ragged_all_to_all(operand, output, input_offsets, send_sizes, output_offsets, recv_sizes, *, axis_name, groups):
    """Return ``ragged_all_to_all``."""
    return lax.ragged_all_to_all(operand, output, input_offsets, send_sizes, output_offsets, recv_sizes, axis_name=axis_name, axis_index_groups=groups)


LOCAL = {'add': lax.add, 'maximum': lax.max, 'multiply': lax.mul, 'negate': lax.neg, 'subtract': lax.sub}


def _local(step, operands):
    if step.op == 'sum':
        return lax.reduce_sum(operands[0], axes=(int(str(step.attrs['axis'])),))
    return LOCAL[step.op](*operands)


DONES = {'all_gather': parallel.all_gather_done_p, 'all_reduce': parallel.psum_done_p, 'all_to_all': parallel.all_to_all_done_p, 'broadcast': parallel.pbroadcast_done_p, 'permute': parallel.ppermute_done_p, 'reduce_scatter': parallel.reduce_scatter_done_p}


def _untouched(step, operands):
    """Return what moves nothing: an index, a cast, or the done of what is started."""
    if step.op == 'axis_index':
        return lax.axis_index(step.axes[0] if len(step.axes) == 1 else step.axes)
    if step.op == 'done':
        return DONES[str(step.attrs['of'])].bind(operands[0])
    return lax.pcast(operands[0], step.axes, to=str(step.attrs['to']))


TO = {'invariant': 'invarying'}


def _result(step, operands, tables):
    if step.start:
        return _started(step, operands[0])
    if step.op in MAPPED and step.op != 'all_gather':
        return MAPPED[step.op](operands[0], axis_name=step.axes, groups=step.groups, **step.attrs)
    if step.op == 'ragged_all_to_all':
        return ragged_all_to_all(*operands, **tables(step), axis_name=step.axes, groups=step.groups)
    if step.op in LOCAL or step.op == 'sum':
        return _local(step, operands)
    if step.op in ('axis_index', 'cast', 'done'):
        return _untouched(step, operands)
    to = str(step.attrs['to'])
    how = {**step.attrs, 'to': TO.get(to, to), 'axis_index_groups': step.groups}
    return lax.all_gather(operands[0], step.axes, **how)


Whose = Literal['framework', 'adapter']


_MARK = '__conformance_whose__'


def whose(error):
    """Return whose ``error`` was marked to be; ``None`` for one without a mark.

    One that a framework made of an exception of the adapter's, by ``raise … from`` or while handling it, is the
    adapter's.
    """
    if (marked := error.__dict__.get(_MARK)) is not None:
        found = marked
        return found
    before, seen = (error.__cause__ or error.__context__, {id(error)})
    while before is not None and id(before) not in seen:
        if before.__dict__.get(_MARK) == 'adapter':
            return 'adapter'
        seen.add(id(before))
        before = before.__cause__ or before.__context__
    return None


def _misspelt(error, at):
    """Return whether a variable that does not exist was named in the file of the ``with`` itself."""
    if at is None or not isinstance(error, NameError) or error.name is None:
        return False
    frames = [frame.f_code.co_filename for frame, _ in walk_tb(at)]
    first = next((file for file in frames if file != contextlib.__file__), None)
    return first == frames[-1]


class _Marks(ContextDecorator):
    """A context, or a decorator, that says of every exception that leaves it whose it is, unless that is said."""

    def __init__(self, whose):
        self._whose: Whose = whose

    def __enter__(self):
        pass

    def __exit__(self, kind, error, at):
        if isinstance(error, Exception):
            found = whose(error) or ('adapter' if _misspelt(error, at) else self._whose)
            error.__dict__.setdefault(_MARK, found)


def framework():
    """Return the context in which the framework is called."""
    return _Marks('framework')


def _tables(step):
    """Return the row of this rank's position in its group, of each table of a ragged exchange."""
    groups = step.groups or (tuple(range(len(step.attrs['send_sizes']))),)
    place = {position: number for group in groups for number, position in enumerate(group)}
    with framework(), config.auto_pcast(True):
        at = jnp.array([place[position] for position in range(len(place))])[lax.axis_index(step.axes)]
        return {name: jnp.array(rows, np.int32)[at] for name, rows in step.attrs.items()}


def _run(program, inputs, tables=None):
    made = dict(inputs)
    for step in program.steps:
        _check_done(program, step)
        made[step.output] = _result(step, [made[name] for name in step.inputs], tables or _tables)
    return made


def _mapped(program, devices, rank, entering, leaving):
    """Return ``rank`` under ``shard_map``: a value has a leading axis of extent 1 for each axis it varies along."""

    def inside(given):
        blocks = {name: lax.squeeze(x, tuple(range(len(entering[name])))) for name, x in given.items()}
        made = rank(blocks)
        return {name: lax.expand_dims(x, tuple(range(len(leaving[name])))) for name, x in made.items()}
    if not program.names:
        raise Unsupported('shard_map takes no axis names for all of them: a program cannot have none')
    grid = np.array(devices[:program.world]).reshape([axis.size for axis in program.mesh])
    return jax.shard_map(inside, mesh=Mesh(grid, tuple((axis.name for axis in program.mesh))), in_specs=({name: PartitionSpec(*axes) for name, axes in entering.items()},), out_specs={name: PartitionSpec(*axes) for name, axes in leaving.items()}, check_vma=program.checked, axis_names=frozenset(program.names))


def _entering(program):
    return {name: each.varying for name, each in program.inputs.items()}


def _sizes(program, axes):
    sizes = {axis.name: axis.size for axis in program.mesh}
    return tuple((sizes[axis] for axis in axes))


def _abstract(program):
    return {name: jax.ShapeDtypeStruct((*_sizes(program, each.varying), *each.shape), each.dtype) for name, each in program.inputs.items()}


def _types(program, devices):
    """Return the type of each value, those of inputs too."""
    found = {}

    def rank(inputs):
        found.update({name: _type_of(value) for name, value in _run(program, inputs).items()})
        return {}
    with framework(), config.auto_pcast(program.automatic):
        jax.eval_shape(_mapped(program, devices, rank, _entering(program), {}), _abstract(program))
    return found


def _leaving(of):
    """Return the axes along which what a shard shows of a value varies."""
    return tuple(sorted({*of.varying, *of.reduced}))


def _visible(value):
    """Return what may leave a shard: the sum of an unreduced value, and a reduced one as a varying one."""
    of = _type_of(value)
    value = lax.psum(value, of.unreduced) if of.unreduced else value
    return lax.pcast(value, of.reduced, to='varying') if of.reduced else value


def _joined(program, varying, blocks):
    """Return one array of the blocks of all ranks, with a leading axis for each mesh axis that they vary along."""
    names = [axis.name for axis in program.mesh]
    grid = np.stack(blocks).reshape((*(axis.size for axis in program.mesh), *blocks[0].shape))
    kept = grid[tuple((slice(None) if name in varying else 0 for name in names))]
    order = [[name for name in names if name in varying].index(name) for name in varying]
    return kept.transpose((*order, *range(len(order), kept.ndim)))


def _split(program, varying, array):
    """Return the block of each rank."""
    at = np.indices([axis.size for axis in program.mesh]).reshape(len(program.mesh), program.world).T
    names = [axis.name for axis in program.mesh]
    return [np.asarray(array[tuple((place[names.index(name)] for name in varying))]) for place in at]


class Jitted(NamedTuple):
    """A function over the mesh of a program, the axes its values vary along, and the types of the program's values."""
    program: object
    function: object
    entering: object
    leaving: object
    types: object

    def compile(self, given):
        """Compile for blocks of these dtypes and shapes; a call finds what was compiled."""
        with framework(), config.auto_pcast(self.program.automatic):
            self.function.lower(self._whole(given)).compile()

    def _whole(self, given):
        return {name: _joined(self.program, self.entering[name], blocks) for name, blocks in given.items()}

    def __call__(self, given):
        """Return the blocks of what leaves, one a rank."""
        whole = self._whole(given)
        with framework(), config.auto_pcast(self.program.automatic):
            made = self.function(whole)
            arrays = {name: np.asarray(array) for name, array in made.items()}
        return {name: _split(self.program, self.leaving[name], array) for name, array in arrays.items()}


def _jitted(program, devices, rank, entering, leaving, of):
    return Jitted(program, jax.jit(_mapped(program, devices, rank, entering, leaving)), entering, leaving, of)


def pushforward(program, devices):
    """Return what gives the tangent of each result by ``jax.jvp`` in ``shard_map``; that of an input is ``d x``."""
    of, everywhere = (_types(program, devices), program.names)
    leaving = {name: _leaving(of[name]) if program.checked else everywhere for name in program.results}
    at = _entering(program)

    def rank(given):
        primals = ({name: given[name] for name in program.inputs},)
        _, found = jax.jvp(lambda x: {name: _run(program, x)[name] for name in program.results}, primals, ({name: given[f'd {name}'] for name in program.inputs},))
        return {name: _visible(value) for name, value in found.items()}
    entering = {**at, **{f'd {name}': axes for name, axes in at.items()}}
    return _jitted(program, devices, rank, entering, leaving, of)


class Dtype(NamedTuple):
    """A dtype: its ``name``, what ``holds`` one element in memory, its family, and how many ``bits`` of that are used.

    Those that are ``drawn`` are in every domain. The others are drawn by the suite ``dtypes`` alone, for movement and
    for reductions that round nothing: no number model is declared for what is rounded in them.
    """
    name: object
    holds: object
    kind: object
    bits: object
    drawn: object = True


def _native(kind, *names: str):
    types = (np.dtype('bool' if name == 'bool' else name) for name in names)
    return tuple((Dtype(name, held, kind, 8 * held.itemsize) for name, held in zip(names, types, strict=True)))


def _extended(name, kind, bits, *, drawn=False):
    return Dtype(name, np.dtype(getattr(ml_dtypes, name)), kind, bits, drawn)


ROWS = (*_native('bool', 'bool'), _extended('int4', 'integer', 4, drawn=True), *_native('integer', 'int8', 'int16', 'int32', 'int64'), _extended('uint4', 'integer', 4, drawn=True), *_native('integer', 'uint8', 'uint16', 'uint32', 'uint64'), _extended('float8_e4m3fn', 'float', 8, drawn=True), _extended('float8_e5m2', 'float', 8, drawn=True), *_native('float', 'float16'), _extended('bfloat16', 'float', 16, drawn=True), *_native('float', 'float32', 'float64'), *_native('complex', 'complex64', 'complex128'), _extended('int2', 'integer', 2), _extended('uint2', 'integer', 2), _extended('float8_e3m4', 'float', 8), _extended('float8_e4m3', 'float', 8), _extended('float8_e4m3b11fnuz', 'float', 8), _extended('float8_e4m3fnuz', 'float', 8), _extended('float8_e5m2fnuz', 'float', 8), _extended('float8_e8m0fnu', 'float', 8), _extended('float6_e2m3fn', 'float', 6), _extended('float6_e3m2fn', 'float', 6), _extended('float4_e2m1fn', 'float', 4))


NUMPY = {row.name: row.holds for row in ROWS}


_USED = {row.holds: np.uint8((1 << row.bits) - 1) for row in ROWS if row.bits < 8 * row.holds.itemsize}


def cleared(array):
    """Return an array whose elements have zeros in the bits that their dtype does not use; others as they are.

    Values do not depend on these bits, and who computes in wider integers leaves copies of the sign there.
    """
    used = _USED.get(array.dtype)
    return array if used is None else np.asarray(array.view(np.uint8) & used).view(array.dtype)


def to_array(tensor):
    """Return a fresh, writable, C-contiguous array holding exactly the bits of ``tensor`` that its dtype uses."""
    flat = np.frombuffer(bytearray.fromhex(tensor.bits), dtype=NUMPY[tensor.dtype])
    return cleared(flat).reshape(tensor.shape)


class Axis(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One named mesh axis and the number of ranks along it."""
    name: object
    size: object


class TypedInput(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """An input: every rank holds a block of ``shape``. It varies along ``varying`` and is invariant elsewhere."""
    dtype: object
    shape: object
    varying: object = ()


class TypedStep(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One operation on named values. ``axes`` are the mesh axes that it names, major first.

    Where it is to ``start`` its output is what a ``done`` takes, which has the operation that it waits ``of`` as an
    attribute and names no axes.

    ``groups`` partition the positions along them; without any all positions are one group. A ``ragged_all_to_all`` has
    its offsets and sizes as attributes, a row for each position in its group.
    """
    op: object
    inputs: object
    output: object
    axes: object = ()
    attrs: object = {}
    groups: object = None
    start: object = False


class TypedProgram(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Steps over a mesh.

    ``mapped`` are the axes of the mesh that the program may name, all of them by default. Where ``checked`` is false
    no value has a type and casts are identities. Where ``automatic`` is false no operation casts by itself.
    """
    dialect: object = 'types'
    mesh: object
    inputs: object
    steps: object
    results: object
    mapped: object = None
    checked: object = True
    automatic: object = True

    @property
    def world(self):
        """Return the number of ranks."""
        return math.prod((axis.size for axis in self.mesh))

    @property
    def names(self):
        """Return the mesh axes that the program may name."""
        return tuple((axis.name for axis in self.mesh)) if self.mapped is None else self.mapped

    @property
    def started(self):
        """Return the operation of every value that is started."""
        return {step.output: step.op for step in self.steps if step.start}


class Tensor(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One block of elements. ``bits`` is hex, so NaN payloads, -0.0 and every dtype survive JSON."""
    dtype: object
    shape: object
    bits: object

    def __post_init__(self):
        """Raise ``ValueError`` when dtype, shape and bits do not fit together."""
        if self.dtype not in NUMPY:
            raise ValueError(f"unknown dtype {self.dtype!r}; known are {', '.join(NUMPY)}")
        if any((extent < 0 for extent in self.shape)):
            raise ValueError(f'shape {list(self.shape)} has a negative extent')
        wanted = 2 * NUMPY[self.dtype].itemsize * math.prod(self.shape)
        if len(self.bits) != wanted:
            raise ValueError(f'a {self.dtype} tensor of shape {list(self.shape)} needs {wanted} hex digits, got {len(self.bits)}')
        if self.bits.encode().translate(None, b'0123456789abcdef'):
            raise ValueError('the bits of a tensor must be lower-case hex digits')


NAME = 'types'


class TypedCase(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A typed program with a block for each rank of every input.

    Without ``cotangents`` the types and values of its results are asked for. With them asked for are the cotangents of
    its inputs, that is its transpose; there is one for each result named, of the type that belongs to it. With
    ``batch``, the outermost level first, asked for are the results of the program mapped over these levels; the shapes
    of the program are then those of a slice, and a step may name levels as it names mesh axes. Where it is ``lowered``
    asked for is what a compiler makes of its steps, and where it is ``compiled`` which collectives are left of them in
    the end. With ``tangents``, one for each input, asked for are those of its results.
    """
    program: object
    inputs: object
    cotangents: object = {}
    batch: object = ()
    lowered: object = False
    tangents: object = {}
    compiled: object = False
    troubled: object = False
    'Nothing befalls a rank.'

    @property
    def answered(self):
        """Return the names of what is asked for."""
        if self.lowered or self.compiled:
            return frozenset()
        return frozenset(self.program.inputs if self.cotangents else self.program.results)

    @property
    def kind(self):
        """Return the word for what is asked for, with which the id begins."""
        words = {'batched': self.batch, 'lowered': self.lowered, 'compiled': self.compiled, 'pushed': self.tangents, 'transposed': self.cotangents}
        return next((word for word, asked in words.items() if asked), NAME)

    @property
    def last(self):
        """Return the operation of the last step that names mesh axes, or ``local`` where none does."""
        named = [step.op for step in self.program.steps if step.axes]
        return named[-1] if named else 'local'


CASE = TypedCase(program=TypedProgram(dialect='types', mesh=(Axis(name='i', size=2),), inputs={'a': TypedInput(dtype='bfloat16', shape=(0, 2), varying=())}, steps=(TypedStep(op='sum', inputs=('a',), output='v0', axes=(), attrs={'axis': 0}, groups=None, start=False), TypedStep(op='multiply', inputs=('v0', 'v0'), output='v1', axes=(), attrs={}, groups=None, start=False)), results=('v0', 'v1'), mapped=None, checked=True, automatic=True), inputs={'a': (Tensor(dtype='bfloat16', shape=(0, 2), bits=''), Tensor(dtype='bfloat16', shape=(0, 2), bits=''))}, cotangents={}, batch=(), lowered=False, tangents={'a': (Tensor(dtype='bfloat16', shape=(0, 2), bits=''), Tensor(dtype='bfloat16', shape=(0, 2), bits=''))}, compiled=False)


PROGRAM, DEVICES = CASE.program, jax.devices()


def blocks(table):
    return {name: [to_array(each) for each in of] for name, of in table.items()}


def within(context, function):
    with context:
        return function()


def entries(value):
    blocks = getattr(value, "parts", value if isinstance(value, list) else [value])
    arrays = [None if block is None else np.asarray(block) for block in blocks]
    return [None if a is None else [str(a.dtype), list(a.shape), a.tobytes().hex()] for a in arrays]


try:
    results, error = {key: entries(value) for key, value in (pushforward(PROGRAM, DEVICES)({**blocks(CASE.inputs), **{f"d {name}": each for name, each in blocks(CASE.tangents).items()}})).items()}, None
except Exception as raised:
    results, error = {}, [type(raised).__name__, " ".join(str(raised).split())[:500]]
print("\nANSWER " + json.dumps({"results": results, "error": error}), flush=True)
