"""The frame of every script: its data, the child process that runs the framework, and the comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from conformance.cases.case import Case, case_id
from conformance.reproduce.data import inputs_of, results_of
from conformance.reproduce.identifiers import Renamed
from conformance.reproduce.source_text import docstring, literal
from conformance.reproduce.symptom import SENTENCES, Symptom

LIMIT: Final = 120
"""Seconds after which the child has hung; the slowest framework starts in some 20 on two busy cores."""


@dataclass(frozen=True)
class Program:
    """What a system adds to the frame.

    ``needs`` names the packages. ``setting`` are lines before the ``imports`` of the framework, and ``definitions`` come
    after them, all of which the child alone executes. ``body`` defines ``run(inputs)``, which returns the results of all ranks, unless the system has an
    ``entry`` of its own. ``launch`` is an expression of the command that starts the ranks, in which ``ME`` is the path
    of the script and ``beside(name)`` that of a program beside Python, or its name alone.
    """

    needs: str
    setting: tuple[str, ...]
    imports: tuple[str, ...]
    definitions: tuple[str, ...]
    body: str
    launch: str = "[sys.executable, ME, CHILD]"
    entry: str = ""


def script(
    case: Case, named: Renamed, clause: str, sentence: str, source: str, shown: Symptom, program: Program
) -> str:
    """Return the text of a script that ends with 1 while the bug is there, 0 when it is gone and 2 when it cannot run.

    ``clause``, ``sentence`` and ``source`` say what is expected and by whom. Of the ``case`` the docstring speaks;
    ``shown`` and ``program`` have the names of the script, which ``named`` gives.
    """
    own = named.case
    parts = [
        docstring(
            [
                case_id(case),
                "",
                f"Expected ({clause}, source {source}): {sentence}",
                f"Observed: {SENTENCES[shown.kind]}.",
                "",
                "The program:",
                *(f"    {line}" for line in steps_of(case)),
                "",
                f"Needs {program.needs}. Exit status: 1 while this is so, 0 when it is not, 2 when it could not be run.",
            ]
        ),
        _imported("ml_dtypes and numpy", *_IMPORTS),
        _DATA.format(
            limit=literal(LIMIT),
            world=literal(own.program.world),
            kind=literal(shown.kind),
            names=literal(named.originals),
            inputs=inputs_of(own),
            expected=results_of(shown.expected) if not shown.refusal else "{}",
            refusal=literal(shown.refusal),
            observed=results_of(shown.observed) if shown.kind == "values" and shown.several else "{}",
            errors=literal(shown.errors if shown.kind in ("error", "raised") else {}),
            loose=literal(shown.loose),
        ),
        _ARRAYS,
        _MAIN.format(launch=program.launch),
        "\n".join(program.setting),
        _imported(program.needs, *program.imports),
        *program.definitions,
        program.body,
        program.entry or _ENTRY,
        "child()",
    ]
    return "\n\n".join(part.strip("\n") + "\n" for part in parts)


def _imported(needs: str, *imports: str) -> str:
    """Return imports after which a script ends with 2, and says what it needs, where one is missing."""
    own = [line for line in imports if line.removeprefix("import ") in _STANDARD]
    others = "".join(f"    {line}\n" for line in imports if line not in own)
    return (
        "\n".join(own)
        + f"""

try:
{others}except ImportError as error:
    print(f"{{error}}; this needs {needs}")
    sys.exit(2)
"""
    )


def steps_of(case: Case) -> list[str]:
    """Return the steps of a program, a line each."""
    lines = []
    for step in case.program.steps:
        attrs = [f"{name}={value!r}" for name, value in step.attrs.items()]
        over = [f"over {step.axes!r}"] if step.axes else []
        groups = [f"groups {step.groups!r}"] if step.groups is not None else []
        into = [f"into {', '.join(step.into)}"] if step.into else []
        ranks = [f"ranks {step.ranks!r}"] if step.ranks is not None else []
        made = f"{', '.join(step.outputs)} = " if step.outputs else ""
        start = "start " if step.start else ""
        said = ", ".join((*step.inputs, *attrs))
        lines.append(" ".join([f"{made}{start}{step.op}({said})", *over, *groups, *into, *ranks]))
    return lines


_STANDARD: Final = ("json", "os", "signal", "subprocess", "sys", "time")
_IMPORTS: Final = (*(f"import {name}" for name in _STANDARD), "import ml_dtypes", "import numpy as np")

_DATA: Final = """\
ME, CHILD = os.path.abspath(__file__), "--child"
LIMIT = {limit}  # seconds; who has not answered by then hangs
WORLD = {world}
SYMPTOM = {kind}
NAMES = {names}  # what the case calls its values
INPUTS = {inputs}
EXPECTED = {expected}
REFUSAL = {refusal}  # why the program has no meaning, if it has none
OBSERVED = {observed}  # more than one result is right, so this wrong one is looked for
ERRORS = {errors}
ANY_NAN = {loose}  # results in which one NaN is as good as another
"""

_ARRAYS: Final = '''\
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
    print("\\nANSWER " + json.dumps(answer), flush=True)


def changed_inputs(rank, inputs):
    return [name for name, block in inputs.items() if block.tobytes().hex() != INPUTS[name][rank][2]]
'''

_ENTRY: Final = """\
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
"""

ANSWERED: Final = """\
    try:
        text, hung = process.communicate(timeout=LIMIT)[0], False
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        text, hung = process.communicate()[0], True
    lines = [json.loads(line[7:]) for line in text.splitlines() if line.startswith("ANSWER ")]
"""

_MAIN: Final = (
    '''\
def beside(name):
    path = os.path.join(os.path.dirname(sys.executable), name)
    return path if os.path.exists(path) else name


def ask():
    """Run the ranks in a process group of their own; return their answers and how they ended."""
    began = time.monotonic()
    process = subprocess.Popen({launch}, stdout=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
'''
    + ANSWERED
    + '''\
    ended = f"no answer within {{LIMIT}} s" if hung else f"exit status {{process.returncode}}"
    return {{one["rank"]: one for one in lines}}, hung, process.returncode, f"{{ended}} after {{time.monotonic() - began:.1f}} s"


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
    raised = {{rank: one["error"][0] for rank, one in answers.items() if one["error"]}}
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


def words(text):
    """Return text without characters that a terminal would obey."""
    return ascii(text)[1:-1]


def shown(block):
    return None if block is None else f"{{block[0]}}{{list(block[1])}} {{array(*block).tolist()}}"


def main():
    answers, hung, status, ended = ask()
    print("expected, as one of several right results" if OBSERVED else "expected")
    print(f"    a refusal: {{words(REFUSAL)}}" if REFUSAL else "", end="\\n" if REFUSAL else "")
    for name, blocks in EXPECTED.items():
        for rank, block in enumerate(blocks):
            print(f"    {{words(NAMES[name])}} on rank {{rank}}: {{shown(block)}}")
    print(f"observed ({{ended}})")
    for rank, one in sorted(answers.items()):
        if one["error"]:
            print(f"    rank {{rank}} raised {{words(': '.join(one['error']))}}")
        for name, block in one["results"].items():
            print(f"    {{words(NAMES[name])}} on rank {{rank}}: {{shown(block)}}")
        for name in one["changed"]:
            print(f"    rank {{rank}}: the input {{words(NAMES[name])}} was changed")
    bug = None if status == 2 and not answers else shows(answers, hung, status)
    print("this does not tell" if bug is None else "the bug is there" if bug else "the bug is not there")
    return 2 if bug is None else int(bug)


if CHILD not in sys.argv:
    sys.exit(main())
'''
)
