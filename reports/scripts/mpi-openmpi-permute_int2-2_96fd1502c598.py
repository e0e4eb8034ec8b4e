"""permute/int2-2/96fd1502c598

Expected (collective.C4, source torch.inductor.comm_lowering (PyTorch, Inductor's lowering of collectives, 2025, between 2.7 and 2.13, commit not recorded: torch/_inductor/comm_lowering.py, register_comm_lowering; BSD-3-Clause)): The result depends on the elements of a block and not on its memory layout.
Observed: the results are not the expected ones.

The program:
    y2 = permute(x1, pairs=((0, 1), (1, 0))) over ('i',)

Needs mpi4py with an MPI, ml_dtypes and numpy. Exit status: 1 while this is so, 0 when it is not, 2 when it could not be run.
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
        ('int2', (2,), '0000', 'flipped'),
        ('int2', (2,), '0000', 'flipped'),
    ],
}
EXPECTED = {
    'y2': [
        ('int2', (2,), '0000'),
        ('int2', (2,), '0000'),
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
    process = subprocess.Popen(["env", *['OMPI_ALLOW_RUN_AS_ROOT=1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1'], beside("mpiexec"), *('--oversubscribe', '-n', '2'), sys.executable, ME, CHILD], stdout=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
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
    from mpi4py import MPI
    import numpy as np
    from typing import NamedTuple
    from numpy.typing import NDArray
    from typing import Any
    import ml_dtypes
except ImportError as error:
    print(f"{error}; this needs mpi4py with an MPI, ml_dtypes and numpy")
    sys.exit(2)


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


CANARY = 165


def unwritten(shape, dtype):
    """Return fresh memory for a result, in which an element that nobody writes shows and is the same every time."""
    return np.full(int(np.prod(shape)) * dtype.itemsize, CANARY, np.uint8).view(dtype).reshape(shape)


def filled(out, shape, dtype):
    """Return what a result goes into, fresh where nothing is given; raise ``ValueError`` where it does not fit."""
    if out is None:
        return unwritten(shape, dtype)
    if (out.shape, out.dtype) != (tuple(shape), dtype):
        raise ValueError(f'{dtype} {tuple(shape)} cannot be received in {out.dtype} {out.shape}')
    return out


def _address(view):
    return int(view.__array_interface__['data'][0])


def one_place(operand, target):
    """Return whether the target is the operand, element for element."""
    if target is None or (_address(operand), operand.shape) != (_address(target), target.shape):
        return False
    strides = zip(operand.shape, operand.strides, target.strides, strict=True)
    return all((extent < 2 or one == other for extent, one, other in strides))


class Call(NamedTuple):
    """A call of MPI: what mpi4py names it, its arguments, and what gives this rank's result once it is complete.

    ``reads`` are the arrays its arguments are addresses of, which have to live as long as it is under way.
    """
    name: object
    arguments: object
    result: object
    reads: object


def permute(block, out, comm, described, tag, *, pairs):
    """``Sendrecv``, in place ``Sendrecv_replace``, to this rank's destination and from its source."""
    rank = comm.Get_rank()
    target = filled(out, block.shape, block.dtype)
    destinations, sources = ([q for p, q in pairs if p == rank], [p for p, q in pairs if q == rank])
    if not destinations or not sources:
        raise Unsupported('MPI_Sendrecv sends and receives one message; for who receives none it leaves no zeros')
    destination, source = (destinations[0], sources[0])
    if one_place(block, out):
        return Call('Sendrecv_replace', (described(target), destination, tag, source, tag), lambda: target, (block,))
    arguments = (described(block), destination, tag, described(target), source, tag)
    return Call('Sendrecv', arguments, lambda: target, (block,))


Array = NDArray[Any]


def adjacent(views):
    """Return whether the elements of ``views`` lie one behind the other; no elements do, wherever they are."""
    at = _address(views[0])
    if not views[0].size:
        return True
    return all((v.flags.c_contiguous and _address(v) == at + i * v.nbytes for i, v in enumerate(views)))


def _memory(view, size):
    return MPI.buffer.fromaddress(_address(view), size)


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


ELEMENTS = {NUMPY['bool']: MPI.C_BOOL, NUMPY['int8']: MPI.INT8_T, NUMPY['int16']: MPI.INT16_T, NUMPY['int32']: MPI.INT32_T, NUMPY['int64']: MPI.INT64_T, NUMPY['uint8']: MPI.UINT8_T, NUMPY['uint16']: MPI.UINT16_T, NUMPY['uint32']: MPI.UINT32_T, NUMPY['uint64']: MPI.UINT64_T, NUMPY['float16']: MPI.FLOAT16_T, NUMPY['float32']: MPI.FLOAT, NUMPY['float64']: MPI.DOUBLE, NUMPY['complex64']: MPI.C_FLOAT_COMPLEX, NUMPY['complex128']: MPI.C_DOUBLE_COMPLEX}


class Datatypes:
    """The derived datatypes of one call, freed when the block ends; what is under way then keeps its own."""

    def __init__(self):
        """Start with none."""
        self._made: list[MPI.Datatype] = []

    def __enter__(self):
        """Return this."""
        return self

    def __exit__(self, kind, error, trace):
        """Free every datatype made."""
        for made in self._made:
            made.Free()

    def __call__(self, *views: Array):
        """Describe ``views`` of one shape that lie equally far from one another, as many as the call has members.

        The count is what goes to or comes from one member.
        """
        first = views[0]
        if adjacent(views):
            element = self._element(first.dtype)
            return (_memory(first, sum((view.nbytes for view in views))), first.size, element)
        distance = _address(views[1]) - _address(first) if len(views) > 1 else None
        return (MPI.BOTTOM, 1, self._strided(_address(first), first.shape, first.strides, first.dtype, distance))

    def rows(self, block):
        """Return where the rows of ``block`` are, and the datatype of one, whose extent leads to the next."""
        if block.flags.c_contiguous:
            row = self._element(block.dtype).Create_contiguous(int(np.prod(block.shape[1:])))
            return (_memory(block, block.nbytes), self._keep(row.Commit()))
        shape, strides = (block.shape[1:], block.strides[1:])
        return (MPI.BOTTOM, self._strided(_address(block), shape, strides, block.dtype, block.strides[0]))

    def _strided(self, address, shape, strides, dtype, extent):
        """Return the datatype of elements ``strides`` apart from ``address`` on; ``extent`` leads to the next."""
        made = self._element(dtype)
        for count, stride in zip(reversed(shape), reversed(strides), strict=True):
            made = self._keep(made.Create_hvector(count, 1, stride))
        made = self._keep(made.Create_hindexed([1], [address]))
        return (made if extent is None else self._keep(made.Create_resized(address, extent))).Commit()

    def _element(self, dtype):
        if dtype in ELEMENTS:
            return ELEMENTS[dtype]
        return self._keep(MPI.BYTE.Create_contiguous(dtype.itemsize).Commit())

    def _keep(self, made):
        self._made.append(made)
        return made


def run(rank, blocks):
    x1 = x1_array = blocks['x1']
    communicator_of(((0, 1),))
    comm = communicator_of(((0, 1),))
    with Datatypes() as described:
        call = permute(x1, None, comm, described, 0, pairs=((0, 1), (1, 0)))
        getattr(comm, call.name)(*call.arguments)
        y2 = call.result()
    return {'y2': y2}


def child():
    rank = MPI.COMM_WORLD.Get_rank()
    blocks = {name: placed(*ranks[rank]) for name, ranks in INPUTS.items()}
    try:
        results = {name: entry(value) for name, value in run(rank, blocks).items()}
    except Exception as error:
        told(rank, error=error)
    else:
        told(rank, results, changed=changed_inputs(rank, blocks))


child()
