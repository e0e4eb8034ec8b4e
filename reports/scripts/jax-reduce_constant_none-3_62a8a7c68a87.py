"""reduce_constant/none-3/62a8a7c68a87

Expected (collective.C15, source jax.psum (JAX, parallel primitives, 0.10.0: jax/_src/lax/parallel.py, psum, axis_index_groups; Apache-2.0)): Where groups may differ in size, each member computes with the size of its own group.
Observed: the results are not the expected ones.

The program:
    t1 = reduce_constant(value=1) over ('i',) groups ((0,), (1, 2))

Needs jax, ml_dtypes and numpy. Exit status: 1 while this is so, 0 when it is not, 2 when it could not be run.
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
WORLD = 3
SYMPTOM = 'values'
INPUTS = {}
EXPECTED = {
    't1': [
        ('int32', (), '01000000'),
        ('int32', (), '02000000'),
        ('int32', (), '02000000'),
    ],
}
REFUSAL = ''  # why the program has no meaning, if it has none
OBSERVED = {}  # more than one result is right, so this wrong one is looked for
ERRORS = {}
ANY_NAN = ()  # results in which one NaN is as good as another


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


os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8 " "--xla_cpu_collective_call_warn_stuck_timeout_seconds=2 --xla_cpu_collective_call_terminate_timeout_seconds=4"


try:
    import jax
    from jax import lax
    from jax import numpy as jnp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    import numpy as np
except ImportError as error:
    print(f"{error}; this needs jax, ml_dtypes and numpy")
    sys.exit(2)


class Unsupported(NotImplementedError):
    """JAX has no such call."""


jax.config.update("jax_enable_x64", True)
MESH = Mesh(np.array(jax.devices()[:WORLD]).reshape([3]), ('i',))
SPLIT = NamedSharding(MESH, PartitionSpec(MESH.axis_names))  # a leading axis with one block a rank
OWN = (slice(0, 1),)


def put(blocks):
    shape = (WORLD, *blocks[0].shape)
    return jax.make_array_from_callback(shape, SPLIT, lambda index: blocks[index[0].start or 0][None])


def blocks_of(value):
    held = {shard.device: np.asarray(shard.data) for shard in value.addressable_shards}
    return [held[device][0, ...] for device in MESH.devices.flat]


def on_all_ranks(function):
    def one(refs, *arrays):
        blocks = [{name: lax.squeeze(x, (0,)) for name, x in each.items()} for each in arrays]
        return {name: lax.expand_dims(x, (0,)) for name, x in function(refs, *blocks).items()}

    mapped = jax.shard_map(one, mesh=MESH, in_specs=SPLIT.spec, out_specs=SPLIT.spec, check_vma=True)
    return jax.jit(mapped, donate_argnums=1)


def _carried(number):
    """Return a Python int, which has no dtype, in the one that the specification has for it.

    What int32 does not hold, and anything else, is as it is: JAX makes an array of a result that is none.
    """
    held = isinstance(number, int) and -2 ** 31 <= number < 2 ** 31
    return np.int32(number) if held else number


def reduce_constant(*, axis_name, groups, value):
    """Return the ``psum`` of a Python int."""
    total = lax.psum(value, axis_name, axis_index_groups=groups)
    return _carried(total)


def program(refs, given, values):
    t1 = reduce_constant(axis_name='i', groups=((0,), (1, 2)), value=1)
    return {'t1': t1}


def run(inputs):
    values = {name: put(blocks) for name, blocks in inputs.items()}
    made = on_all_ranks(program)({}, {}, values)
    return {name: blocks_of(made[name]) for name in ('t1',)}


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
