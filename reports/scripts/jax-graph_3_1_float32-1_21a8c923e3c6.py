"""graph_3_1/float32-1/21a8c923e3c6

Expected (graph.C38, source ieee754 (IEEE Standard for Floating-Point Arithmetic, 754-2019: IEEE 754, 6.3, 9.6; IEEE); numpy.maximum (NumPy documentation, 2.x: https://numpy.org/doc/stable/, numpy.maximum; BSD-3-Clause); stablehlo.operations (StableHLO specification, 1.0: https://openxla.org/stablehlo/spec, Ops, maximum, reduce; Apache-2.0)): A computed zero has the sign that IEEE 754 gives it. A maximum or a minimum of zeros of both signs may have either sign, and so may a sum of negative zeros along axes, since sources differ.
Observed: 0/n31: element [10] is -0.0 (0x80000000); 0.0 (0x00000000) is right

Needs jax, msgspec, ml_dtypes and numpy. Exit status: 1 while this is so, 0 when it is not, 2 when it could not be run.
"""


import json
import os
import signal
import subprocess
import sys

ME, CHILD = os.path.abspath(__file__), "--child"
LIMIT = 120  # seconds; who has not answered by then hangs
OUTCOME, ERROR = 'values', ''
EXPECTED = {'0/n31': [['float32', [17], '0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000']]}
OBSERVED = {'0/n31': [['float32', [17], '0000000000000000000000000000000000000000000000000000000000000000000000000000000000000080000000000000000000000000000000000000000000000000']]}


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


from abc import ABC
from typing import Any
from collections.abc import Mapping
import numpy as np
from typing import NamedTuple
import ml_dtypes
from typing import get_args
from typing import Literal
import ast
import operator
from functools import lru_cache
from abc import abstractmethod
import jax
import jax.numpy as jnp
from jax import lax
import msgspec
import math


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


def to_array(tensor):
    """Return a fresh, writable, C-contiguous array holding exactly the bits of ``tensor``."""
    flat = np.frombuffer(bytearray.fromhex(tensor.bits), dtype=NUMPY[tensor.dtype])
    return flat.reshape(tensor.shape)


def asked_key(number, node):
    """Return the name, among the results of an observation, of the value of a node that a round asked for."""
    return f'{number}/{node}'


def read_key(number, buffer):
    """Return the name of what a buffer held when a round read it."""
    return f'{number}/buffer/{buffer}'


Movement = Literal['reshape', 'permute', 'expand', 'pad', 'shrink', 'stride', 'flip', 'detach']


MOVEMENT = get_args(Movement)


LONGEST = 200


_OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod}


def _known(part):
    if isinstance(part, ast.Constant):
        return type(part.value) is int
    if isinstance(part, ast.BinOp) and isinstance(part.op, ast.FloorDiv | ast.Mod):
        return isinstance(part.right, ast.Constant) and type(part.right.value) is int and (part.right.value > 0)
    return isinstance(part, (ast.BinOp, ast.Name, ast.Load, *_OPERATIONS))


@lru_cache(maxsize=4096)
def _parsed(text):
    """Return an expression as a tree, or ``None`` for what is a name and nothing else."""
    if text.isidentifier() or len(text) > LONGEST:
        return None
    try:
        found = ast.parse(text, mode='eval').body
    except (SyntaxError, ValueError):
        return None
    return found if all((_known(each) for each in ast.walk(found))) else None


def _worth(part, values):
    if isinstance(part, ast.BinOp):
        found = _OPERATIONS[type(part.op)](_worth(part.left, values), _worth(part.right, values))
        return found
    if isinstance(part, ast.Name):
        return values[part.id]
    assert isinstance(part, ast.Constant)
    return int(part.value)


def worth(dim, values):
    """Return an extent as a number; raise ``KeyError`` for a variable without a value."""
    if isinstance(dim, int):
        return dim
    found = None if dim in values else _parsed(dim)
    return values[dim] if found is None else _worth(found, values)


def sizes(extents, values):
    """Return extents as numbers; raise ``KeyError`` for a variable without a value."""
    return tuple([extent if isinstance(extent, int) else worth(extent, values) for extent in extents])


class Unsupported(NotImplementedError):
    """The implementation has no such operation, dtype or option, and says so."""


class Walk(ABC):
    """A case being run: the framework's value of each computed node, and its storage of each buffer, flat."""

    def __init__(self, case):
        """Begin with what the buffers hold at first."""
        self.case = case
        self.nodes = {node.id: node for node in case.graph.nodes}
        self.values: dict[str, Any] = {}
        self.more: dict[str, tuple[Any, ...]] = {}
        self.bounds: dict[str, Mapping[str, int]] = {}
        self.storages = {name: self.storage(name, to_array(each).reshape(-1)) for name, each in case.buffers.items()}

    def run(self):
        """Return what every round asks for and reads, by key."""
        found = {}
        for number, each in enumerate(self.case.rounds):
            self.begin(number)
            asked = self.answers(each.asked)
            found |= {asked_key(number, name): array for name, array in zip(each.asked, asked, strict=True)}
            found |= {read_key(number, name): self.held(name) for name in each.read}
        return found

    def begin(self, number):
        """Write what is written from outside before a round, and hand its nodes to the framework."""
        self.write_from_outside(number)
        self.list_nodes(number)

    def write_from_outside(self, number):
        """Write what is written from outside before a round."""
        for name, tensor in self.case.rounds[number].writes.items():
            self.write(name, to_array(tensor).reshape(-1))

    def list_nodes(self, number):
        """Hand the nodes of a round to the framework, in list order."""
        bound = self.case.bound(number)
        for node in self.case.listed(number):
            self.bounds[node.id] = bound
            self.take(node)

    def answers(self, names):
        """Return what the nodes that a round asks for are worth, all asked for together."""
        return self.arrays([self.value(name) for name in names])

    def held(self, name):
        """Return what a buffer holds, in its shape."""
        found, = self.arrays([self.storages[name]])
        return found.reshape(self.case.buffers[name].shape)

    def take(self, node):
        """Hand one node to the framework."""
        if node.op == 'assign':
            self.assign(node, self.value(node.of[1]), copied=bool(self.home(node.of[1])))
        elif node.op == 'item':
            self.values[node.id] = self.more[node.of[0]][int(str(node.arg)) - 1]
        elif node.op == 'call':
            self.values[node.id], *others = self.call(node, [self.value(name) for name in node.of])
            self.more[node.id] = tuple(others)
        elif not self.home(node.id):
            self.values[node.id] = self.made(node, [self.value(name) for name in node.of])

    def home(self, name):
        """Return the buffer that a node is a name of; no word for a computed one."""
        node = self.nodes[name]
        while node.op in MOVEMENT or node.op == 'assign':
            node = self.nodes[node.of[0]]
        return str(node.arg) if node.op == 'buf' else ''

    def value(self, name):
        """Return the framework's value of a node, as it is worth now."""
        if name in self.values:
            return self.values[name]
        path, node = ([], self.nodes[name])
        while node.op != 'buf':
            path.append(node)
            node = self.nodes[node.of[0]]
        found = self.shaped(self.storages[str(node.arg)], self.dims(node))
        for each in reversed(path):
            found = found if each.op == 'assign' else self.moved(each, found)
        return found

    def dims(self, node):
        """Return the shape of a node as numbers."""
        return sizes(node.shape, self.bounds.get(node.id, {}))

    def pairs(self, node):
        """Return the pairs of a pad or a shrink as numbers."""
        arg = node.arg if isinstance(node.arg, tuple) else ()
        ends = [sizes(pair, self.bounds.get(node.id, {})) for pair in arg if isinstance(pair, tuple)]
        return tuple(((first, beyond) for first, beyond in ends))

    def axes(self, node):
        """Return the axes, or the steps, that are the argument of a node."""
        return tuple((each for each in node.arg if isinstance(each, int))) if isinstance(node.arg, tuple) else ()

    def applied(self, function, of, bound):
        """Return what a function gives for its arguments, inlined."""
        values = {}
        for node in function.nodes:
            self.bounds[node.id] = bound
            given = [values[name] for name in node.of]
            if node.op == 'param':
                values[node.id] = of[int(str(node.arg))]
            else:
                values[node.id] = self.moved(node, given[0]) if node.op in MOVEMENT else self.made(node, given)
        return [values[name] for name in function.results]

    def call(self, node, of):
        """Return the results of a call; override it where a framework has calls of its own."""
        return self.applied(self.case.graph.functions[str(node.arg)], of, self.bounds[node.id])

    def arrays(self, values):
        """Return values as arrays, all asked for together."""
        return [self.array(value) for value in values]

    def made(self, node, of):
        """Return the framework's value of a node that is computed now."""
        if node.op in MOVEMENT:
            return self.moved(node, of[0])
        table = self.table()
        name = str(node.arg) if node.op == 'alu' else node.op
        if name not in table:
            raise Unsupported(f'node {node.id!r}: there is no word for {name}')
        return table[name](node, *of)

    @abstractmethod
    def table(self):
        """Return for each computed operation, by name, what makes its value of the node and its sources."""

    @abstractmethod
    def storage(self, name, array):
        """Return new storage that holds a flat array."""

    @abstractmethod
    def write(self, name, array):
        """Write a flat array into a whole buffer."""

    @abstractmethod
    def shaped(self, value, shape):
        """Return the beginning of flat storage in a shape, as a view of it where there are such."""

    @abstractmethod
    def moved(self, node, value):
        """Return movement of a value, as a view of it where there are such."""

    @abstractmethod
    def assign(self, node, value, *, copied):
        """Write a value into the target of an assign; ``copied`` says that the value may share storage with it."""

    @abstractmethod
    def array(self, value):
        """Return a value as an array."""


def _shrink(walk, node, value):
    pairs = walk.pairs(node)
    return lax.slice(value, [begin for begin, _ in pairs], [end for _, end in pairs])


def _stride(walk, node, value):
    steps = walk.axes(node)
    turned = tuple((axis for axis, step in enumerate(steps) if step < 0))
    value = lax.rev(value, turned) if turned else value
    return lax.slice(value, (0,) * value.ndim, value.shape, [abs(step) for step in steps])


MOVES = {'reshape': lambda walk, node, value: jnp.reshape(value, walk.dims(node)), 'permute': lambda walk, node, value: jnp.transpose(value, walk.axes(node)), 'expand': lambda walk, node, value: jnp.broadcast_to(value, walk.dims(node)), 'pad': lambda walk, node, value: jnp.pad(value, walk.pairs(node)) if value.ndim else value, 'shrink': _shrink, 'stride': _stride, 'flip': lambda walk, node, value: lax.rev(value, walk.axes(node)), 'detach': lambda _, __, value: lax.stop_gradient(value)}


def positions(walk, node, at):
    """Return positions moved as a node moves its source."""
    moves = {'reshape': lambda: at.reshape(walk.dims(node)), 'permute': lambda: at.transpose(walk.axes(node)), 'shrink': lambda: at[tuple((slice(*pair) for pair in walk.pairs(node)))], 'stride': lambda: at[tuple((slice(None, None, step) for step in walk.axes(node)))], 'flip': lambda: np.flip(at, walk.axes(node)), 'detach': lambda: at}
    return moves[node.op]()


def place_of(walk, name):
    """Return for each element that a name of storage shows its position in the flat buffer."""
    path, node = ([], walk.nodes[name])
    while node.op != 'buf':
        path.append(node)
        node = walk.nodes[node.of[0]]
    found = np.arange(int(np.prod(walk.dims(node), dtype=np.int64))).reshape(walk.dims(node))
    for each in reversed(path):
        found = found if each.op == 'assign' else positions(walk, each, found)
    return found


BACK = {'reshape': lambda walk, _, source, value: jnp.reshape(value, walk.dims(source)), 'permute': lambda walk, node, _, value: jnp.transpose(value, np.argsort(walk.axes(node)).tolist()), 'stride': lambda walk, node, _, value: lax.rev(value, [a for a, step in enumerate(walk.axes(node)) if step < 0]), 'flip': lambda walk, node, _, value: lax.rev(value, walk.axes(node)), **dict.fromkeys(('shrink', 'detach', 'assign'), lambda _, __, ___, value: value)}


def _framed(function):
    """Return a function whose exceptions are the framework's."""

    def framed(*args: Any):
        return function(*args)
    return framed


_CALLS = {'neg': jnp.negative, 'not': jnp.bitwise_not, 'abs': jnp.abs, 'recip': jnp.reciprocal, 'sqrt': jnp.sqrt, 'exp2': jnp.exp2, 'log2': jnp.log2, 'sin': jnp.sin, 'trunc': jnp.trunc, 'add': jnp.add, 'sub': jnp.subtract, 'mul': jnp.multiply, 'max': jnp.maximum, 'min': jnp.minimum, 'and': jnp.bitwise_and, 'or': jnp.bitwise_or, 'xor': jnp.bitwise_xor, 'shl': jnp.left_shift, 'shr': jnp.right_shift, 'lt': jnp.less, 'ne': jnp.not_equal, 'eq': jnp.equal, 'where': jnp.where}


DTYPES = {row.name: row for row in ROWS}


def kind(name):
    """Return the family of a dtype: ``bool``, ``integer``, ``float`` or ``complex``; of no dtype it is ``float``."""
    return DTYPES[name].kind if name in DTYPES else 'float'


def _divide(node, left, right):
    if kind(node.dtype) != 'integer':
        return jnp.divide(left, right)
    dtype = jnp.promote_types(left.dtype, right.dtype)
    return lax.div(left.astype(dtype), right.astype(dtype))


def _remainder(_, left, right):
    return jnp.fmod(left, right)


_BITS = {'and': jnp.bitwise_and, 'or': jnp.bitwise_or, 'xor': jnp.bitwise_xor}


def _reduce(node, value):
    axes = tuple((axis for axis in node.arg if isinstance(axis, int))) if isinstance(node.arg, tuple) else ()
    dtype, own = (NUMPY[node.acc or node.dtype], NUMPY[node.dtype])
    if node.dtype == 'bool' and node.fold in ('add', 'or', 'mul', 'and'):
        return (jnp.any if node.fold in ('add', 'or') else jnp.all)(value, axes)
    if node.fold in ('add', 'mul'):
        return (jnp.sum if node.fold == 'add' else jnp.prod)(value, axes, dtype=dtype).astype(own)
    if node.fold in ('max', 'min'):
        return (jnp.max if node.fold == 'max' else jnp.min)(value, axes)
    for axis in sorted(axes, reverse=True):
        value = _BITS[node.fold].reduce(value, axis=axis)
    return value


TABLE = {**{name: _framed(lambda _, *of, call=call: call(*of)) for name, call in _CALLS.items()}, 'div': _framed(_divide), 'mod': _framed(_remainder), 'cast': _framed(lambda node, value: lax.convert_element_type(value, NUMPY[node.dtype])), 'bitcast': _framed(lambda node, value: lax.bitcast_convert_type(value, NUMPY[node.dtype])), 'reduce': _framed(_reduce), 'gather': _framed(lambda node, value, index: jnp.take(value, index, axis=int(str(node.arg)), mode='clip')), 'contig': _framed(lambda _, value: lax.optimization_barrier(value)), 'copy': _framed(lambda _, value: jnp.copy(value))}


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


class Compiled(Walk):
    """A case whose values are arrays of JAX, traced while a round is compiled."""

    def begin(self, number):
        """Compile and call one function a round."""
        self.write_from_outside(number)
        self.given, self.storages, self.values, self.more = jax.jit(self._round(number))(self.storages, self.values, self.more)

    def answers(self, names):
        """Return what the function of the round gave."""
        return self.arrays(self.given)

    def _round(self, number):
        """Return the function of a round."""

        def traced(storages, values, more):
            self.storages, self.values, self.more = (dict(storages), dict(values), dict(more))
            self.list_nodes(number)
            asked = [self.value(name) for name in self.case.rounds[number].asked]
            return (asked, self.storages, self._later(number), self._later_results(number))
        return traced

    def _later(self, number):
        """Return the values that later rounds take or ask for."""
        first = self.case.rounds[number].until
        later = {name for node in self.case.graph.nodes[first:] for name in node.of}
        later |= {name for each in self.case.rounds[number + 1:] for name in each.asked}
        return {name: value for name, value in self.values.items() if name in later}

    def _later_results(self, number):
        first = self.case.rounds[number].until
        later = {node.of[0] for node in self.case.graph.nodes[first:] if node.op == 'item'}
        return {name: value for name, value in self.more.items() if name in later}

    def storage(self, name, array):
        """Return a flat array on the device."""
        del name
        return jnp.asarray(array)

    def write(self, name, array):
        """Put another array in the place of a buffer's."""
        self.storages[name] = self.storage(name, array)

    def shaped(self, value, shape):
        """Return the beginning of a flat array in a shape."""
        return value[:int(np.prod(shape, dtype=np.int64))].reshape(shape)

    def moved(self, node, value):
        """Return movement of a value."""
        return MOVES[node.op](self, node, value)

    def assign(self, node, value, *, copied):
        """Set the elements of a buffer that a target shows."""
        del copied
        home, at = (self.home(node.of[0]), place_of(self, node.of[0]))
        if at.size == self.storages[home].size:
            self.storages[home] = self._moved_back(node.of[0], value)
            return
        self.storages[home] = self.storages[home].at[at].set(value)

    def _moved_back(self, name, value):
        """Return the flat storage of which all, as a name shows it, is a value."""
        node = self.nodes[name]
        while node.op != 'buf':
            source = self.nodes[node.of[0]]
            value = BACK[node.op](self, node, source, value)
            node = source
        return value.reshape(-1)

    def call(self, node, of):
        """Call a function that is compiled by itself."""
        function = self.case.graph.functions[str(node.arg)]

        def traced(*given: Any):
            return self.applied(function, list(given), self.bounds[node.id])
        return list(jax.jit(traced)(*of))

    def table(self):
        """Return the calls of computed nodes."""
        return TABLE

    def made(self, node, of):
        """Return the value of a node that is computed now."""
        if node.op == 'var':
            return jnp.asarray(self.bounds[node.id][str(node.arg)], NUMPY[node.dtype])
        if node.op == 'const':
            assert isinstance(node.arg, Tensor)
            return jnp.broadcast_to(jnp.asarray(to_array(node.arg)), self.dims(node))
        if node.op == 'iota':
            return lax.broadcasted_iota(NUMPY[node.dtype], self.dims(node), int(str(node.arg)))
        return super().made(node, of)

    def array(self, value):
        """Return a value as an array."""
        return np.array(value)


def run(case):
    """Return what the rounds of a case ask for and read."""
    return Compiled(case).run()


class Node(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One value on one device.

    ``arg`` is, for ``buf`` the buffer, ``const`` a tensor without axes, ``var`` the variable, ``param`` the number of
    the parameter, ``permute`` the axes, ``pad`` what is added before and after each axis, ``shrink`` the half-open
    range kept of each axis, ``stride`` for each axis how far apart the elements lie that are kept, the first among
    them, or the last where the step is negative, ``flip`` and ``reduce`` axes (the operation of a reduce is ``fold``,
    and the axes are gone from its shape), ``alu`` the operation, ``copy`` whether it may not be elided, ``call`` the
    function, and ``item`` which other result of the call, its source, it is: 1 for the second. ``iota`` counts along
    the axis ``arg`` from 0. ``gather`` has along the axis ``arg`` of its first source the elements that the second one,
    of integers, numbers, and the axes of the second one stand in the place of that axis.
    ``acc`` is the dtype in which a reduce folds, where that is not its own.
    ``assign`` writes its second source into its first. ``all_reduce`` is the ``fold`` of its sources, one for each
    device, on this node's device. ``collective`` is what ``device``, one of the ``members``, receives when they meet in
    the operation ``arg`` with ``attrs``, as a step of a program has them: its sources are a block of each member, in
    member order, for one operand after the other.
    """
    id: object
    op: object
    of: object = ()
    shape: object
    dtype: object
    device: object
    arg: object = None
    fold: object = ''
    acc: object = ''
    attrs: object = {}
    members: object = ()


class Graph(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Nodes in program order, those whose values were asked for, and with which values of variables."""
    nodes: object
    results: object
    functions: object = {}
    variables: object = {}

    @property
    def most(self):
        """Return the greatest value of each variable that the graph binds."""
        return {name: variable.high for name, variable in self.variables.items()}


class Round(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What happens between two looks at values, in this order.

    ``writes`` go into whole buffers, from outside. Then the nodes of the graph up to number ``until``, not included,
    are listed that earlier rounds did not list, with ``values`` for variables, or else those that the graph gives. Then
    the values of the nodes ``asked`` for are wanted, together, and after them what the buffers to be ``read`` hold.
    A node may be asked for in several rounds: a computed one is worth what it was when it was listed, a name of storage
    what is stored by then.
    """
    until: object
    writes: object = {}
    values: object = {}
    asked: object = ()
    read: object = ()


class GraphCase(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A graph, the first content of each buffer by name, and rounds in order. The last one lists all nodes.

    The results of the graph are all that any round asks for, each once, in the order in which it is first asked for.
    """
    graph: object
    buffers: object
    rounds: object
    troubled: object = False
    'Nothing befalls a rank.'

    def listed(self, number):
        """Return the nodes that a round lists."""
        first = self.rounds[number - 1].until if number else 0
        return self.graph.nodes[first:self.rounds[number].until]

    def bound(self, number):
        """Return the value of each variable in a round."""
        return {name: each.value for name, each in self.graph.variables.items()} | self.rounds[number].values


CASE = GraphCase(graph=Graph(nodes=(Node(id='b8', op='buf', of=(), shape=(17,), dtype='float32', device='d0', arg='b8', fold='', acc='', attrs={}, members=()), Node(id='n30', op='const', of=(), shape=(17,), dtype='float32', device='d0', arg=Tensor(dtype='float32', shape=(), bits='00000080'), fold='', acc='', attrs={}, members=()), Node(id='n31', op='alu', of=('b8', 'n30'), shape=(17,), dtype='float32', device='d0', arg='sub', fold='', acc='', attrs={}, members=())), results=('n31',), functions={}, variables={}), buffers={'b8': Tensor(dtype='float32', shape=(17,), bits='0000000000000000000000000000000000000000000000000000000000000000000000000000000000000080000000000000000000000000000000000000000000000000')}, rounds=(Round(until=3, writes={}, values={}, asked=('n31',), read=()),))


def within(context, function):
    with context:
        return function()


def entries(value):
    blocks = getattr(value, "parts", value if isinstance(value, list) else [value])
    arrays = [None if block is None else np.asarray(block) for block in blocks]
    return [None if a is None else [str(a.dtype), list(a.shape), a.tobytes().hex()] for a in arrays]


try:
    results, error = {key: entries(value) for key, value in (run(CASE)).items()}, None
except Exception as raised:
    results, error = {}, [type(raised).__name__, " ".join(str(raised).split())[:500]]
print("\nANSWER " + json.dumps({"results": results, "error": error}), flush=True)
