"""all_reduce/float32-2/8c62f70cde7b

Expected (reduction.C20, source numpy.maximum (NumPy documentation, 2.x: https://numpy.org/doc/stable/, numpy.maximum; BSD-3-Clause)): max and min are NaN where the element of at least one member is NaN.
Observed: the results are not the expected ones.

The program:
    y = all_reduce(x, op='max') over ('i',)

Needs tinygrad, ml_dtypes and numpy. Exit status: 1 while this is so, 0 when it is not, 2 when it could not be run.
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
    'x': [
        ('float32', (), '00000000', 'contiguous'),
        ('float32', (), '0000c07f', 'contiguous'),
    ],
}
EXPECTED = {
    'y': [
        ('float32', (), '0000c07f'),
        ('float32', (), '0000c07f'),
    ],
}
REFUSAL = ''  # why the program has no meaning, if it has none
OBSERVED = {}  # more than one result is right, so this wrong one is looked for
ERRORS = {}
ANY_NAN = ('y',)  # results in which one NaN is as good as another


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


DEVICE, ALGORITHM = 'CPU', 'naive'
os.environ["DEV"] = DEVICE


try:
    from tinygrad.helpers import Context
    from tinygrad.dtype import dtypes
    from tinygrad.tensor import Tensor
    import numpy as np
except ImportError as error:
    print(f"{error}; this needs tinygrad, ml_dtypes and numpy")
    sys.exit(2)


class NUMPY(dict):
    def __missing__(self, name):
        return dtype_of(name)


NUMPY = NUMPY()


def logical(dtype):
    return str(dtype)


def kind(name):
    return "bool" if name == "bool" else "integer" if "int" in name else "complex" if "complex" in name else "float"


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


LOWERING = {'naive': {'RING': 0, 'ALL2ALL': 0}, 'ring': {'RING': 2, 'ALL2ALL': 0}, 'all-to-all': {'RING': 0, 'ALL2ALL': 2}}


def lowered(algorithm):
    """Return the context in which a reduction over devices is lowered to ``algorithm``."""
    context = Context(**LOWERING[algorithm])
    return context


def shard(tensor, devices, axis=None):
    """Return ``tensor`` split along ``axis``, or copied to every device.

    Raise ``Unsupported`` for an axis that is none where there is nothing to split: one device has the whole tensor,
    whatever axis is named.
    """
    if len(devices) == 1 and axis is not None and (not -tensor.ndim <= axis < tensor.ndim):
        raise Unsupported(f'a tensor on one device is split along no axis, so that {axis} is not looked at')
    return tensor.shard(devices, axis)


DTYPES = {'bool': dtypes.bool, 'int8': dtypes.int8, 'int16': dtypes.int16, 'int32': dtypes.int32, 'int64': dtypes.int64, 'uint8': dtypes.uint8, 'uint16': dtypes.uint16, 'uint32': dtypes.uint32, 'uint64': dtypes.uint64, 'float8_e4m3fn': dtypes.fp8e4m3, 'float8_e5m2': dtypes.fp8e5m2, 'float16': dtypes.float16, 'bfloat16': dtypes.bfloat16, 'float32': dtypes.float32, 'float64': dtypes.float64}


def tensor_of(block, device=None):
    """Return ``block`` as a tensor whose elements are on ``device``."""
    name = logical(block.dtype)
    if name not in DTYPES:
        raise Unsupported(f'tinygrad has no {name}')
    bits = block.tobytes()
    return Tensor(bits, device=device, dtype=DTYPES[name]).reshape(block.shape).realize()


def split(whole, devices, axis):
    """Return ``whole`` as a tensor of which each device holds one equal part along ``axis``."""
    parts = shard(tensor_of(whole), devices, axis)
    return parts.realize()


def _behind(axis, rank):
    """Return where an axis of a block is once the axis of ranks stands before it; one that is none stays none."""
    return axis + 1 if axis >= 0 else axis if axis >= -rank else axis - 1


REDUCTIONS = {'sum': 'sum', 'product': 'prod', 'mean': 'mean', 'max': 'max', 'min': 'min'}


OF_BOOLS = {'and': 'all', 'or': 'any'}


NAMES = {dtype: name for name, dtype in DTYPES.items()}


def on_all(tensor, devices):
    """Return what each device holds of ``tensor``: its shard, or its copy."""
    dtype = NUMPY[NAMES[tensor.dtype]]
    if 0 in tensor.shape:
        return [np.empty(tensor.uop.shard_shape, dtype) for _ in devices]
    made = tensor.contiguous().realize()
    storage = made.uop.buffer
    buffers = storage.bufs if len(devices) > 1 else [storage]
    held = [bytes(buffer.as_memoryview()) for buffer in buffers]
    shape = made.uop.shard_shape
    return [np.frombuffer(each, dtype).reshape(shape) for each in held]


def all_reduce(blocks, devices, *, op, local_axes):
    """Return ``sum``, ``mean``, ``prod``, ``max``, ``min``, ``all`` or ``any`` along the sharded axis, on every device.

    Sums and products of integers ask for the dtype of the integers, which wraps; tinygrad's default for sums is wider.
    """
    parts = split(np.stack(blocks), devices, 0)
    axes = (0, *(_behind(axis, blocks[0].ndim) for axis in local_axes))
    own = {'dtype': parts.dtype} if kind(logical(blocks[0].dtype)) == 'integer' else {}
    name = (REDUCTIONS if own else REDUCTIONS | OF_BOOLS).get(op)
    if name is None:
        raise Unsupported(f'tinygrad has no reduction {op!r} of {blocks[0].dtype}')
    reduced = getattr(parts, name)(axes, **own if op in ('sum', 'product') else {})
    return on_all(reduced, devices)


def run(inputs):
    x = x_array = inputs['x']
    y = on_groups(all_reduce, x, ((0, 1),), local_axes=(), op='max')
    return {'y': y}


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
