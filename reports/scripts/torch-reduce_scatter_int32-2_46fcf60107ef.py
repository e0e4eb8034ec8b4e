"""reduce_scatter/int32-2/46fcf60107ef

Expected (reduce_scatter.C2, source jax.psum_scatter (JAX, parallel primitives, 0.10.0: jax/_src/lax/parallel.py, psum_scatter, tiled; Apache-2.0)): Untiled, the axis has one slice for each member, and the result does not have it.
Observed: a legal program is refused.

The program:
    w = reduce_scatter(x, axis=0, op='sum', tiled=False) over ('i',)

Needs torch, ml_dtypes and numpy. Exit status: 1 while this is so, 0 when it is not, 2 when it could not be run.
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
SYMPTOM = 'raised'
INPUTS = {
    'x': [
        ('int32', (2, 2), '00000000000000000000000000000000', 'contiguous'),
        ('int32', (2, 2), '00000000000000000000000000000000', 'contiguous'),
    ],
}
EXPECTED = {
    'w': [
        ('int32', (2,), '0000000000000000'),
        ('int32', (2,), '0000000000000000'),
    ],
}
REFUSAL = ''  # why the program has no meaning, if it has none
OBSERVED = {}  # more than one result is right, so this wrong one is looked for
ERRORS = {0: 'RuntimeError', 1: 'RuntimeError'}
ANY_NAN = ('w',)  # results in which one NaN is as good as another


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


import tempfile
import warnings
from datetime import timedelta

os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
warnings.filterwarnings("ignore", message="The given NumPy array is not writable")


try:
    import torch
    import torch.distributed as dist
except ImportError as error:
    print(f"{error}; this needs torch, ml_dtypes and numpy")
    sys.exit(2)


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


NAMES = {'sum': 'SUM', 'product': 'PRODUCT', 'mean': 'AVG', 'max': 'MAX', 'min': 'MIN', 'and': 'BAND', 'or': 'BOR', 'xor': 'BXOR'}


class Refused(ValueError):
    """A program without a meaning that no implementation is asked about: every member of a group is alone in it."""


def reduction(op, factor):
    """Return ``ReduceOp.SUM`` for ``sum``, and so on; raise ``Refused`` for a name that stands for none."""
    if op == 'premul_sum':
        premultiplied = dist.ReduceOp.PREMUL_SUM
        return premultiplied(factor)
    if op not in NAMES:
        raise Refused(f"no member of ReduceOp is the reduction {op!r}; known are {', '.join(NAMES)}, premul_sum")
    return getattr(dist.ReduceOp, NAMES[op])


def split(block, size, axis, tiled):
    """Return equal pieces that keep ``axis`` (tiled), or slices that lose it; views where Torch can."""
    return list(block.chunk(size, axis) if tiled else block.unbind(axis))


def without(shape, axis):
    """Return ``shape`` without the extent of ``axis``."""
    return [extent for at, extent in enumerate(shape) if at != axis % len(shape)]


def reduce_scatter(block, group, *, op, axis, tiled, factor=1.0):
    """Scatter dimension 0 of one input, whose shape says stack or concatenate; else a list of pieces at ``axis``."""
    size = group.size()
    if axis == 0:
        out = block.new_empty((block.size(0) // size, *block.shape[1:]) if tiled else block.shape[1:])
        dist.reduce_scatter_single(out, block, op=reduction(op, factor), group=group)
        return out
    pieces = split(block, size, axis, tiled)
    out = block.new_empty(pieces[0].shape if tiled else without(block.shape, axis))
    dist.reduce_scatter(out, pieces, op=reduction(op, factor), group=group)
    return out


def run(rank, blocks):
    x_array = blocks['x']
    x = tensor(x_array)
    group = group_of(((0, 1),))
    w = reduce_scatter(x, group, axis=0, op='sum', tiled=False)
    return {'w': w}


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


child()
