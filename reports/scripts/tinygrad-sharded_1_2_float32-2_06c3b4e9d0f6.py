"""sharded_1_2/float32-2/06c3b4e9d0f6

Expected (sharded.C45, source tinygrad.multi (tinygrad, multi-device buffers, commit 62e5d96446, 2024-12-19: tinygrad/multi.py, is_realized; MIT)): An implementation that says whether a tensor is realized says so of every tensor whose real parts it gave, whatever becomes of parts that are not real.
Observed: 0/b0: it is said not to be realized, and its parts were given

Needs tinygrad, msgspec, ml_dtypes and numpy. Exit status: 1 while this is so, 0 when it is not, 2 when it could not be run.
"""


import json
import os
import signal
import subprocess
import sys

ME, CHILD = os.path.abspath(__file__), "--child"
LIMIT = 120  # seconds; who has not answered by then hangs
OUTCOME, ERROR = 'values', ''
EXPECTED = {'0/b0': [['float32', [1, 2], '000000c0000000c0'], ['float32', [1, 2], '000000c0000000c0']]}
OBSERVED = {'0/b0': [['float32', [1, 2], '000000c0000000c0'], ['float32', [1, 2], '000000c0000000c0']]}


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


DEVICE = 'CPU'
ALGORITHM = 'naive'
os.environ["DEV"] = DEVICE


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
from tinygrad.dtype import dtypes
from tinygrad.tensor import Tensor
from tinygrad.uop.ops import UOp
import msgspec
from dataclasses import dataclass
from tinygrad.helpers import Context
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


DTYPES = {'bool': dtypes.bool, 'int8': dtypes.int8, 'int16': dtypes.int16, 'int32': dtypes.int32, 'int64': dtypes.int64, 'uint8': dtypes.uint8, 'uint16': dtypes.uint16, 'uint32': dtypes.uint32, 'uint64': dtypes.uint64, 'float8_e4m3fn': dtypes.fp8e4m3, 'float8_e5m2': dtypes.fp8e5m2, 'float16': dtypes.float16, 'bfloat16': dtypes.bfloat16, 'float32': dtypes.float32, 'float64': dtypes.float64}


def dtype_of(name):
    """Return a dtype of tinygrad; raise ``Unsupported`` where there is none."""
    if name not in DTYPES:
        raise Unsupported(f'tinygrad has no {name}')
    return DTYPES[name]


def _framed(function):
    """Return a function whose exceptions are the framework's."""

    def framed(*args: Any):
        return function(*args)
    return framed


def reduced(node, of):
    """Return a reduction; raise ``Unsupported`` where ``Tensor`` has none."""
    axes = node.arg
    if node.dtype == 'bool' and node.fold in ('and', 'mul'):
        return of.all(axes)
    if node.dtype == 'bool' and node.fold in ('or', 'add', 'max'):
        return of.any(axes)
    if node.fold in ('add', 'mul'):
        return (of.sum if node.fold == 'add' else of.prod)(axes, dtype=of.dtype)
    if node.fold in ('max', 'min'):
        return getattr(of, node.fold)(axes)
    raise Unsupported(f'node {node.id!r}: Tensor has no reduction {node.fold} of {node.dtype}')


def _reduce(node, value):
    if not node.acc:
        return reduced(node, value)
    axes = node.arg
    made = (value.sum if node.fold == 'add' else value.prod)(axes, dtype=dtype_of(node.acc))
    return made.cast(dtype_of(node.dtype))


def _gather(node, value, index):
    axis = int(str(node.arg))
    return value[*(slice(None) for _ in range(axis)), index]


TABLE = {'cast': _framed(lambda node, value: value.cast(dtype_of(node.dtype))), 'bitcast': _framed(lambda node, value: value.bitcast(dtype_of(node.dtype))), 'reduce': _reduce, 'gather': _gather, 'contig': _framed(lambda _, value: value.contiguous())}


ELEMENTWISE = {'neg': lambda x: -x, 'abs': lambda x: x.abs(), 'recip': lambda x: x.reciprocal(), 'sqrt': lambda x: x.sqrt(), 'exp2': lambda x: x.exp2(), 'log2': lambda x: x.log2(), 'sin': lambda x: x.sin(), 'trunc': lambda x: x.trunc(), 'add': lambda x, y: x + y, 'sub': lambda x, y: x - y, 'mul': lambda x, y: x * y, 'max': lambda x, y: x.maximum(y), 'min': lambda x, y: x.minimum(y), 'and': lambda x, y: x & y, 'or': lambda x, y: x | y, 'xor': lambda x, y: x ^ y, 'lt': lambda x, y: x < y, 'ne': lambda x, y: x != y, 'eq': lambda x, y: x == y, 'where': lambda x, y, z: x.where(y, z)}


DTYPES_2 = {row.name: row for row in ROWS}


def kind(name):
    """Return the family of a dtype: ``bool``, ``integer``, ``float`` or ``complex``; of no dtype it is ``float``."""
    return DTYPES_2[name].kind if name in DTYPES_2 else 'float'


def elementwise(node, of):
    """Return an elementwise operation; raise ``Unsupported`` where ``Tensor`` has none."""
    name = str(node.arg)
    if name == 'not':
        return of[0].logical_not() if node.dtype == 'bool' else of[0].bitwise_not()
    if name == 'div':
        return of[0].div(of[1], rounding_mode='trunc') if kind(node.dtype) == 'integer' else of[0] / of[1]
    if name not in ELEMENTWISE:
        raise Unsupported(f'node {node.id!r}: Tensor has no {name}')
    return ELEMENTWISE[name](*of)


def _elementwise(node, of):
    if node.arg not in ELEMENTWISE and node.arg not in ('not', 'div'):
        raise Unsupported(f'node {node.id!r}: Tensor has no {node.arg}')
    return elementwise(node, of)


NAMING = ('contig', 'copy', 'cast', 'bitcast')


def constant(node, shape):
    """Return a constant in a shape."""
    value = to_array(node.arg).item()
    return Tensor(value, dtype=dtype_of(node.dtype)).reshape((1,) * len(shape)).expand(shape)


UNNAMED = (dtypes.float16, dtypes.bfloat16, dtypes.fp8e4m3, dtypes.fp8e5m2)


BITS = {1: dtypes.uint8, 2: dtypes.uint16}


class Lazily(Walk):
    """A case whose values are lazy tensors. The devices of the graph are the first ones of a kind, in order."""

    def __init__(self, case, device):
        """Name the devices, then begin."""
        names = dict.fromkeys((node.device for node in case.graph.nodes))
        self.devices = {name: f'{device}:{number}' for number, name in enumerate(names)}
        self.on = {str(node.arg): self.devices[node.device] for node in case.graph.nodes if node.op == 'buf'}
        self.default = f'{device}:0'
        super().__init__(case)

    def answers(self, names):
        """Return arrays in the shapes of the nodes, realized all together."""
        found = self.arrays([self.numbered(name) for name in names])
        return [array.reshape(self.dims(self.nodes[name])) for name, array in zip(names, found, strict=True)]

    def numbered(self, name):
        """Return the tensor of a node, its extents as numbers: data of other shapes cannot be looked at."""
        value, node = (self.value(name), self.nodes[name])
        if not any((isinstance(each, str) for each in node.shape)):
            return value
        most, shape = (self.case.graph.most, self.extents(node, node.shape))
        ends = [most[each] if isinstance(each, str) else each for each in node.shape]
        whole = value.pad(tuple(((0, end - extent) for end, extent in zip(ends, shape, strict=True))))
        return whole.contiguous().realize().shrink(tuple(((0, extent) for extent in self.dims(node))))

    def storage(self, name, array):
        """Return a realized flat tensor that holds an array."""
        device = self.on.get(name, self.default)
        dtype = dtype_of(self.case.buffers[name].dtype)
        return Tensor(array.tobytes(), device=device, dtype=dtype).realize()

    def write(self, name, array):
        """Assign an array to a whole buffer, and realize that."""
        if not array.size:
            return
        held = self.storages[name]
        held.assign(Tensor(array.tobytes(), device=held.device, dtype=held.dtype)).realize()

    def shaped(self, value, shape):
        """Return the beginning of a flat tensor in a shape."""
        count = int(np.prod(shape, dtype=np.int64))
        return (value if count == value.shape[0] else value.shrink(((0, count),))).reshape(shape)

    def symbols(self, node):
        """Return the bound variables of the round of a node."""
        asked = self.case.graph.variables
        bound = self.bounds[node.id]
        return {name: UOp.variable(name, asked[name].low, asked[name].high).bind(value) for name, value in bound.items()}

    def extents(self, node, extents):
        """Return extents with their variables."""
        if not any((isinstance(each, str) for each in extents)):
            return extents
        symbols = self.symbols(node)
        return tuple((symbols[each] if isinstance(each, str) else each for each in extents))

    def moved(self, node, value):
        """Return movement of a tensor."""
        arg = node.arg
        shape = self.extents(node, node.shape)
        pairs = [self.extents(node, pair) for pair in arg] if node.op in ('pad', 'shrink') else []
        if node.op in ('reshape', 'expand'):
            return value.reshape(shape) if node.op == 'reshape' else value.expand(shape)
        if node.op == 'stride':
            return value[tuple((slice(None, None, step) for step in arg))]
        if node.op == 'detach':
            return value.detach()
        if node.op in ('pad', 'shrink'):
            return value.pad(tuple(pairs)) if node.op == 'pad' else value.shrink(tuple(pairs))
        return value.permute(arg) if node.op == 'permute' else value.flip(arg)

    def assign(self, node, value, *, copied):
        """Assign to a buffer, or to a view of one."""
        del copied
        if 0 in self.dims(node):
            return
        name, at = (self.home(node.of[0]), self.nodes[node.of[0]])
        while at.op in ('reshape', 'detach', 'assign'):
            at = self.nodes[at.of[0]]
        base = self.storages[name]
        target = self.value(node.of[0])
        if at.op == 'buf' and (not any((isinstance(each, str) for each in at.shape))):
            base.assign(value.reshape(base.shape))
        else:
            target.assign(value)

    def table(self):
        """Return the calls of computed nodes."""
        return TABLE

    def made(self, node, of):
        """Return the tensor of a node that is computed by and by."""
        if node.op in ('const', 'var', 'iota'):
            return self._leaf(node)
        if node.op == 'alu':
            return _elementwise(node, of)
        if node.op == 'copy':
            device = self.devices[node.device]
            made = of[0].clone(device) if node.arg else of[0].to(device)
        else:
            made = super().made(node, of)
        if node.op in NAMING and (node.of[0] not in self.nodes or self.home(node.of[0])):
            return made.clone()
        return made

    def _leaf(self, node):
        if node.op == 'const':
            return constant(node, self.extents(node, node.shape))
        dtype = dtype_of(node.dtype)
        if node.op == 'var':
            return Tensor(self.symbols(node)[str(node.arg)]).cast(dtype)
        shape, axis = (self.dims(node), int(str(node.arg)))
        line = Tensor.arange(shape[axis], dtype=dtype)
        return line.reshape([-1 if each == axis else 1 for each in range(len(shape))]).expand(shape)

    def arrays(self, values):
        """Realize values together, and return them as arrays."""
        if values:
            Tensor.realize(*values)
        return [self.array(value) for value in values]

    def array(self, value):
        """Return a realized tensor as a flat array, bit for bit."""
        dtype = NUMPY[next((name for name, held in DTYPES.items() if held == value.dtype))]
        if 0 in value.shape:
            return np.empty(0, dtype)
        shown = value.bitcast(BITS[dtype.itemsize]) if value.dtype in UNNAMED else value
        return np.frombuffer(bytes(shown.data()), dtype).copy()


class Placement(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Parts along some mesh axes, and replicas along all others.

    Along the mesh axes of ``partial`` devices hold contributions, of which the tensor is the fold. ``masks`` say of
    each position along a mesh axis whether what the devices there hold is real. The tensor is what is real: an axis
    that is cut has as many elements as its real parts have together, in their order.
    """
    splits: object = ()
    partial: object = {}
    masks: object = {}


REPLICATED = Placement()


def _held(value, *, several):
    """Return the bytes of a realized tensor, one after the other of its devices; a constant is on none."""
    if value.device is None:
        shown = value.bitcast(BITS[value.dtype.itemsize]) if value.dtype in UNNAMED else value
        return [bytes(shown.data())]
    if several and (not value.uop.has_buffer_identity()):
        value = value.clone().realize()
    buffer = value.uop.buffer
    return [bytes(each.as_memoryview()) for each in (buffer.bufs if several else [buffer])]


def _named(devices):
    """Return devices with their numbers: tinygrad leaves out that of the first one."""
    return [name if ':' in name else f'{name}:0' for name in devices]


@dataclass(frozen=True)
class Held:
    """What devices hold of a tensor, one after the other, and of which elements that is; ``None`` is nothing real.

    ``moved`` are the bytes that went from device to device for the step that made it, its operands' moves among them,
    where the implementation counts them. ``size`` is how many elements it says that the tensor has, ``realized``
    whether it says that the tensor is computed and stored, where there are words for that.
    """
    layout: object
    parts: object
    moved: object = None
    size: object = None
    realized: object = None


class Layout(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The elements of the logical tensor that each device holds, in the order of the mesh; ``None`` holds nothing real.

    Devices with the same box have replicas. Along the mesh axes of ``partial`` they have contributions to the same
    elements instead.
    """
    boxes: object
    partial: object = {}


class Placed(Lazily):
    """A case whose tensors are on several devices each."""

    def __init__(self, case, device):
        """Name the devices, then begin."""
        self.sharded = case
        self.names = tuple((f'{device}:{number}' for number in case.devices))
        super().__init__(case.of, device)

    def answers(self, names):
        """Return what each device has of the nodes, realized all together."""
        return self.arrays([self.value(name) for name in names])

    def on_mesh(self, array, dtype, placement):
        """Return an array on the devices, split or copied."""
        kind = dtype_of(dtype)
        axis = self.axis(placement)
        whole = Tensor(array.tobytes(), device=self.names[0], dtype=kind).reshape(array.shape)
        return whole.shard(self.names, axis).contiguous().realize()

    def axis(self, placement):
        """Return the axis that a placement splits."""
        if placement.masks or placement.partial or len(placement.splits) > 1:
            raise Unsupported('Tensor.shard splits one axis, and has no masks and no contributions')
        return placement.splits[0].axis if placement.splits else None

    def storage(self, name, array):
        """Return a realized tensor on the devices, in the shape of its buffer."""
        held = self.case.buffers[name]
        return self.on_mesh(array.reshape(held.shape), held.dtype, self.sharded.homes.get(name, REPLICATED))

    def write(self, name, array):
        """Assign an array to a whole buffer, and realize that."""
        if not array.size:
            return
        given = self.storage(name, array)
        self.storages[name].assign(given).realize()

    def shaped(self, value, shape):
        """Return a buffer in the shape of a node that names it."""
        return value if value.shape == shape else value.reshape(shape)

    def made(self, node, of):
        """Return the tensor of a node: a copy is gathered on one device, and split from there."""
        if node.op == 'copy':
            axis = self.axis(self.sharded.moves.get(node.id, REPLICATED))
            if len(self.names) == 1:
                return of[0].clone()
            return of[0].to(self.names[0]).shard(self.names, axis)
        made = super().made(node, of)
        if node.op == 'iota':
            return made.to(self.names[0]).shard(self.names)
        return made

    def assign(self, node, value, *, copied):
        """Assign to a buffer, or to a view of one."""
        del copied
        if 0 in self.dims(node):
            return
        target = self.value(node.of[0])
        target.assign(value)

    def array(self, value):
        """Return what each device has of a tensor, bit for bit."""
        dtype = np.dtype(NUMPY[next((name for name, held in DTYPES.items() if held == value.dtype))])
        made = value.contiguous().realize()
        device, axis, shape = (made.device, made.uop.axis, tuple((int(extent) for extent in made.shape)))
        several = isinstance(device, tuple)
        held = _held(made, several=several) if made.numel() else []
        size = int(made.numel())
        realized = made.uop.is_realized if size and device is not None else None
        on = device if isinstance(device, tuple) else (device or self.names[0],)
        boxes = []
        parts = []
        for name in self.names:
            if name not in _named(on):
                boxes.append(None)
                parts.append(None)
                continue
            number = _named(on).index(name)
            mine = [(0, extent) for extent in shape]
            if several and axis is not None and (axis < len(shape)):
                each = shape[axis] // len(on)
                mine[axis] = (number * each, (number + 1) * each)
            extents = tuple((end - begin for begin, end in mine))
            boxes.append(tuple(mine))
            parts.append(np.frombuffer(held[number], dtype).reshape(extents) if held else np.empty(extents, dtype))
        return Held(Layout(boxes=tuple(boxes)), parts, size=size, realized=realized)

    def held(self, name):
        """Return what each device has of a buffer."""
        self.storages[name].realize()
        return self.array(self.storages[name])


def run(case, device):
    """Return what the rounds of a case ask for and read, on devices of one kind."""
    return Placed(case, device).run()


LOWERING = {'naive': {'RING': 0, 'ALL2ALL': 0}, 'ring': {'RING': 2, 'ALL2ALL': 0}, 'all-to-all': {'RING': 0, 'ALL2ALL': 2}}


def lowered(algorithm):
    """Return the context in which a reduction over devices is lowered to ``algorithm``."""
    context = Context(**LOWERING[algorithm])
    return context


class Axis(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One named mesh axis and the number of ranks along it."""
    name: object
    size: object


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


class Tensor_2(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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


class Split(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An axis of the tensor in consecutive parts, one for each position along some mesh axes, the major one first.

    ``cuts`` are where parts begin and end, from 0: part ``n`` is ``cuts[n]`` to ``cuts[n + 1]``, and may be empty.
    """
    axis: object
    along: object
    cuts: object


def world(mesh):
    """Return how many devices a mesh has."""
    return math.prod((axis.size for axis in mesh))


def keys(case):
    """Return the names of all results, in order."""
    return tuple((key for number, each in enumerate(case.rounds) for key in (*(asked_key(number, node) for node in each.asked), *(read_key(number, buffer) for buffer in each.read))))


class ShardedCase(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A program, the devices it is for, and placements.

    ``devices`` are numbers, one for each position of the mesh in row-major order. ``homes`` place buffers, ``moves``
    the values of ``copy`` nodes; what is not named is replicated. A ``reduce`` among the ``moves`` is to stay a pending
    one: its placement is ``partial`` along mesh axes that cut what it folds.
    """
    mesh: object
    devices: object
    of: object
    homes: object = {}
    moves: object = {}
    troubled: object = False
    'Nothing befalls a rank.'

    @property
    def world(self):
        """Return how many devices there are."""
        return world(self.mesh)

    @property
    def results(self):
        """Return the names of all results, in order: those of the program."""
        return keys(self.of)

    def home(self, node):
        """Return where the buffer of a node of storage is."""
        return self.homes.get(str(node.arg), REPLICATED)


CASE = ShardedCase(mesh=(Axis(name='i', size=2),), devices=(0, 1), of=GraphCase(graph=Graph(nodes=(Node(id='b0', op='buf', of=(), shape=(2, 2), dtype='float32', device='d0', arg='b0', fold='', acc='', attrs={}, members=()),), results=('b0',), functions={}, variables={}), buffers={'b0': Tensor_2(dtype='float32', shape=(2, 2), bits='000000c0000000c0000000c0000000c0')}, rounds=(Round(until=1, writes={}, values={}, asked=('b0',), read=()),)), homes={'b0': Placement(splits=(Split(axis=0, along=('i',), cuts=(0, 1, 2)),), partial={}, masks={})}, moves={})


def within(context, function):
    with context:
        return function()


def entries(value):
    blocks = getattr(value, "parts", value if isinstance(value, list) else [value])
    arrays = [None if block is None else np.asarray(block) for block in blocks]
    return [None if a is None else [str(a.dtype), list(a.shape), a.tobytes().hex()] for a in arrays]


try:
    results, error = {key: entries(value) for key, value in within(lowered(ALGORITHM), lambda: run(CASE, DEVICE)).items()}, None
except Exception as raised:
    results, error = {}, [type(raised).__name__, " ".join(str(raised).split())[:500]]
print("\nANSWER " + json.dumps({"results": results, "error": error}), flush=True)
