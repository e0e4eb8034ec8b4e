"""reduce_scatter+reduce_scatter/float32-2/24267e347dbb

Expected (reduce_scatter.C3, source jax.psum_scatter (JAX, parallel primitives, 0.10.0: jax/_src/lax/parallel.py, psum_scatter, tiled; Apache-2.0)): Tiled, the result has the axis, with the extent divided by the group size.
Observed: the results are not the expected ones.

The program:
    y2 = reduce_scatter(x1, axis=0, op='max', tiled=True) over ('i',)
    y4 = reduce_scatter(x3, axis=0, op='sum', tiled=True) over ('i',)

Needs jaxlib, jax, ml_dtypes and numpy. Exit status: 1 while this is so, 0 when it is not, 2 when it could not be run.
"""


import json
import os
import signal
import subprocess
import sys
import time

try:
    import ml_dtypes
    import numpy as np
except ImportError as error:
    print(f"{error}; this needs ml_dtypes and numpy")
    sys.exit(2)


ME, CHILD = os.path.abspath(__file__), "--child"
LIMIT = 120  # seconds; who has not answered by then hangs
WORLD = 2
SYMPTOM = 'values'
INPUTS = {
    'x1': [
        ('float32', (2,), '0000000000000000', 'contiguous'),
        ('float32', (2,), '0000000000000000', 'contiguous'),
    ],
    'x3': [
        ('float32', (2,), '0000803f0000803f', 'contiguous'),
        ('float32', (2,), '0000000000000000', 'contiguous'),
    ],
}
EXPECTED = {
    'y4': [
        ('float32', (1,), '0000803f'),
        ('float32', (1,), '0000803f'),
    ],
}
REFUSAL = ''  # why the program has no meaning, if it has none
OBSERVED = {}  # more than one result is right, so this wrong one is looked for
ERRORS = {}
ANY_NAN = ('y2', 'y4')  # results in which one NaN is as good as another


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name) if hasattr(ml_dtypes, name) else name)


def array(dtype, shape, bits):
    return np.frombuffer(bytearray.fromhex(bits), dtype_of(dtype)).reshape(shape)


def placed(dtype, shape, bits, layout="contiguous"):
    """Return the block in its memory layout, in storage of its own."""
    block = array(dtype, shape, bits)
    if layout == "contiguous" or (block.ndim == 0 and layout != "offset"):
        return block
    if layout == "strided":
        view = np.empty((*shape[:-1], 2 * shape[-1]), block.dtype)[..., ::2]
    elif layout == "transposed":
        view = np.empty(shape[::-1], block.dtype).T
    elif layout == "flipped":
        view = np.empty(shape, block.dtype)[(slice(None, None, -1),) * len(shape)]
    elif layout == "offset":
        view = np.empty(block.size + 6, block.dtype)[3 : 3 + block.size].reshape(shape)
    else:  # broadcast: one row stands for all
        return np.broadcast_to(block[:1].copy(), shape) if shape[0] else block
    view[...] = block
    return view


def entry(block):
    """Return a block as data: dtype, shape and bits."""
    if block is None:
        return None
    block = np.asarray(block)
    return [str(block.dtype), list(block.shape), block.tobytes().hex()]


def told(rank, results=None, error=None, changed=()):
    """Print what one rank did, as a line that the parent finds again."""
    if error is not None:
        error = [type(error).__name__, " ".join(str(error).split())[:500]]
    answer = {"rank": rank, "results": results or {}, "error": error, "changed": list(changed)}
    print("\nANSWER " + json.dumps(answer), flush=True)


def changed_inputs(rank, inputs):
    return [name for name, block in inputs.items() if block.tobytes().hex() != INPUTS[name][rank][2]]


def beside(name):
    path = os.path.join(os.path.dirname(sys.executable), name)
    return path if os.path.exists(path) else name


def ask():
    """Run the ranks in a process group of their own; return their answers and how they ended."""
    began = time.monotonic()
    process = subprocess.Popen([sys.executable, ME, CHILD], stdout=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
    try:
        text, hung = process.communicate(timeout=LIMIT)[0], False
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        text, hung = process.communicate()[0], True
    lines = [json.loads(line[7:]) for line in text.splitlines() if line.startswith("ANSWER ")]
    ended = f"no answer within {LIMIT} s" if hung else f"exit status {process.returncode}"
    return {one["rank"]: one for one in lines}, hung, process.returncode, f"{ended} after {time.monotonic() - began:.1f} s"


def alike(name, expected, seen):
    if expected is None or seen is None:
        return expected is None
    if [expected[0], list(expected[1])] != [seen[0], list(seen[1])]:
        return False
    if expected[2] == seen[2]:
        return True
    one, other = array(*expected), array(*seen)
    if name not in ANY_NAN or one.dtype.kind in "biu":
        return False
    parts = [(one.real, other.real), (one.imag, other.imag)] if one.dtype.kind == "c" else [(one, other)]
    for a, b in parts:
        a, b = np.ascontiguousarray(a).reshape(-1), np.ascontiguousarray(b).reshape(-1)
        nan = np.isnan(a) & np.isnan(b)
        if a[~nan].tobytes() != b[~nan].tobytes():
            return False
    return True


def matches(wanted, answers):
    pairs = [(name, rank, block) for name, blocks in wanted.items() for rank, block in enumerate(blocks)]
    return all(alike(name, block, answers[rank]["results"].get(name)) for name, rank, block in pairs)


def shows(answers, hung, status):
    """Return whether the answers show what this script is about, or ``None`` where they do not tell."""
    if SYMPTOM == "timeout":
        return hung
    if SYMPTOM == "crashed":
        return not hung and len(answers) < WORLD
    if hung or len(answers) < WORLD:
        return None
    raised = {rank: one["error"][0] for rank, one in answers.items() if one["error"]}
    if SYMPTOM == "raised":
        same = any(raised.get(rank) == kind for rank, kind in ERRORS.items())
        return None if raised and not same else same
    if SYMPTOM == "accepted":
        return not raised
    if SYMPTOM == "uneven":
        return 0 < len(raised) < WORLD
    if SYMPTOM == "error":
        return raised == ERRORS
    if SYMPTOM == "changed":
        return any(one["changed"] for one in answers.values())
    if raised:
        return None
    return matches(OBSERVED, answers) if OBSERVED else not matches(EXPECTED, answers)


def shown(block):
    return None if block is None else f"{block[0]}{list(block[1])} {array(*block).tolist()}"


def main():
    answers, hung, status, ended = ask()
    print("expected, as one of several right results" if OBSERVED else "expected")
    print(f"    a refusal: {REFUSAL}" if REFUSAL else "", end="\n" if REFUSAL else "")
    for name, blocks in EXPECTED.items():
        for rank, block in enumerate(blocks):
            print(f"    {name} on rank {rank}: {shown(block)}")
    print(f"observed ({ended})")
    for rank, one in sorted(answers.items()):
        if one["error"]:
            print(f"    rank {rank} raised {': '.join(one['error'])}")
        for name, block in one["results"].items():
            print(f"    {name} on rank {rank}: {shown(block)}")
        for name in one["changed"]:
            print(f"    rank {rank}: the input {name} was changed")
    bug = None if status == 2 and not answers else shows(answers, hung, status)
    print("this does not tell" if bug is None else "the bug is there" if bug else "the bug is not there")
    return 2 if bug is None else int(bug)


if CHILD not in sys.argv:
    sys.exit(main())





try:
    from jax.interpreters.mlir import make_ir_context
    from jaxlib.mlir.dialects import stablehlo
    from jaxlib.mlir import ir
    import numpy as np
    from typing import NamedTuple
    import ml_dtypes
    from dataclasses import dataclass
except ImportError as error:
    print(f"{error}; this needs jaxlib, jax, ml_dtypes and numpy")
    sys.exit(2)


def _narrow(dtype):
    """Return whether a byte holds an element of fewer bits."""
    return dtype in ('bool', 'int4', 'uint4')


def carried(block, dtype):
    """Return the integers that carry a block, in row-major order."""
    whole = np.array(block, order='C')
    if dtype.startswith('complex'):
        return [np.array(part, order='C').view(f'i{part.itemsize}') for part in (whole.real, whole.imag)]
    return [whole.astype(np.int8) if _narrow(dtype) else whole.view(f'i{whole.itemsize}')]


def _integers(module, blocks):
    dtypes = [value.dtype for value in module.taken] * module.world
    return [bits for block, dtype in zip(blocks, dtypes, strict=True) for bits in carried(block, dtype)]


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


def uncarried(parts, dtype, shape):
    """Return the block that some integers carry."""
    whole = NUMPY[dtype]
    if len(parts) == 1:
        bits, = parts
        return (bits.astype(whole) if _narrow(dtype) else bits.view(whole)).reshape(shape)
    found = np.empty(shape, whole)
    found.real, found.imag = (bits.view(f'f{bits.itemsize}').reshape(shape) for bits in parts)
    return found


def carriers(dtype):
    """Return the integer types that carry one element: a signless one as wide, or one for each of two parts."""
    width = NUMPY[dtype].itemsize * 8
    return (f'i{width // 2}',) * 2 if dtype.startswith('complex') else (f'i{width}',)


def _blocks(module, found):
    left = iter(found)
    return [uncarried([next(left) for _ in carriers(value.dtype)], value.dtype, value.shape) for _ in range(module.world) for value in module.results]


class Interpreter:
    """One context, in which modules are parsed and evaluated one after the other."""

    def __init__(self):
        """Register the operations of the interpreter beside those of StableHLO."""
        self._context = make_ir_context()
        stablehlo.register_interpreter_dialect(self._context)

    @property
    def version(self):
        """Return the version of StableHLO."""
        return str(stablehlo.get_current_version())

    def evaluate(self, module, blocks):
        """Return the results of every process in turn, for the inputs of every process in turn.

        Raise whatever the verifier or the interpreter raises. What they abort over ends the process.
        """
        with self._context, ir.Location.unknown():
            parsed = ir.Module.parse(module.text)
            given = [ir.DenseElementsAttr.get(bits.data) for bits in _integers(module, blocks)]
            found = [np.array(each) for each in stablehlo.eval_module(parsed, given)]
        return _blocks(module, found)


@dataclass(frozen=True)
class Module:
    """The ``text`` of a module for ``world`` processes.

    ``main`` takes what carries the ``inputs`` of each process in turn, and returns what carries its ``results``.
    """
    text: object
    world: object
    inputs: object
    taken: object
    results: object


def tensor_type(element, shape):
    """Return a tensor's type as StableHLO writes it."""
    return f"tensor<{''.join((f'{extent}x' for extent in shape))}{element}>"


ELEMENTS = {'bool': 'i1', 'int4': 'i4', 'int8': 'i8', 'int16': 'i16', 'int32': 'i32', 'int64': 'i64', 'uint4': 'ui4', 'uint8': 'ui8', 'uint16': 'ui16', 'uint32': 'ui32', 'uint64': 'ui64', 'float8_e4m3fn': 'f8E4M3FN', 'float8_e5m2': 'f8E5M2', 'bfloat16': 'bf16', 'float16': 'f16', 'float32': 'f32', 'float64': 'f64', 'complex64': 'complex<f32>', 'complex128': 'complex<f64>', 'float8_e3m4': 'f8E3M4', 'float8_e4m3': 'f8E4M3', 'float8_e4m3b11fnuz': 'f8E4M3B11FNUZ', 'float8_e4m3fnuz': 'f8E4M3FNUZ', 'float8_e5m2fnuz': 'f8E5M2FNUZ'}


@dataclass(frozen=True)
class Value:
    """A value of a process by its name, with its dtype and shape."""
    name: object
    dtype: object
    shape: object

    @property
    def type(self):
        """Return its type as StableHLO writes it."""
        return tensor_type(ELEMENTS[self.dtype], self.shape)


PROGRAM = Module(
    text="""
func.func @process(%x0: tensor<2xf32>, %x1: tensor<2xf32>) -> (tensor<1xf32>) {
%s0_0 = "stablehlo.reduce_scatter"(%x0) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<1xf32>
%s1_0 = "stablehlo.reduce_scatter"(%x1) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<1xf32>
"func.return"(%s1_0) : (tensor<1xf32>) -> () }
func.func @main(%x0_r0_0: tensor<2xi32>, %x1_r0_0: tensor<2xi32>, %x0_r1_0: tensor<2xi32>, %x1_r1_0: tensor<2xi32>) -> (tensor<1xi32>, tensor<1xi32>) {
%x0_r0 = "stablehlo.bitcast_convert"(%x0_r0_0) : (tensor<2xi32>) -> tensor<2xf32>
%x1_r0 = "stablehlo.bitcast_convert"(%x1_r0_0) : (tensor<2xi32>) -> tensor<2xf32>
%x0_r1 = "stablehlo.bitcast_convert"(%x0_r1_0) : (tensor<2xi32>) -> tensor<2xf32>
%x1_r1 = "stablehlo.bitcast_convert"(%x1_r1_0) : (tensor<2xi32>) -> tensor<2xf32>
%y0_r0, %y0_r1 = "interpreter.run_parallel"(%x0_r0, %x1_r0, %x0_r1, %x1_r1) {programs = [[@process], [@process]]} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<1xf32>, tensor<1xf32>)
%y0_r0_0 = "stablehlo.bitcast_convert"(%y0_r0) : (tensor<1xf32>) -> tensor<1xi32>
%y0_r1_0 = "stablehlo.bitcast_convert"(%y0_r1) : (tensor<1xf32>) -> tensor<1xi32>
"func.return"(%y0_r0_0, %y0_r1_0) : (tensor<1xi32>, tensor<1xi32>) -> () }
""",
    world=2,
    inputs=('x1', 'x3'),
    taken=(Value(name='%x0', dtype='float32', shape=(2,)), Value(name='%x1', dtype='float32', shape=(2,))),
    results=(Value(name='%s1_0', dtype='float32', shape=(1,)),),
)


def run(inputs):
    blocks = [inputs[name][rank] for rank in range(WORLD) for name in PROGRAM.inputs]
    read = Interpreter().evaluate(PROGRAM, blocks)
    names = ('y4',)
    return {name: read[at :: len(names)] for at, name in enumerate(names)}


def child():
    inputs = {name: [placed(*each) for each in blocks] for name, blocks in INPUTS.items()}
    try:
        results = run(inputs)
    except Exception as error:
        for rank in range(WORLD):
            told(rank, error=error)
        return
    for rank in range(WORLD):
        mine = {name: entry(blocks[rank]) for name, blocks in results.items()}
        told(rank, mine, changed=changed_inputs(rank, {name: blocks[rank] for name, blocks in inputs.items()}))


child()
