"""One index: our words, families, operations, dtypes, what people ask about, and the names of frameworks.

Whatever ``conformance spec WORD`` finds is an entry here. Words are looked up without their case, and without what is
neither a letter nor a digit: ``in place``, ``in-place`` and ``inplace`` are one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import ml_dtypes

from conformance.cases.tensor.dtypes import DRAWN, DTYPES, ROWS, infinite
from conformance.judging.numbers.facts import FLUSHED, GRADUAL
from conformance.reference.graph.elementwise import FUNCTIONS
from conformance.reference.reductions import REDUCTIONS
from conformance.reference.spmd import ATTRIBUTES
from conformance.specification.families import FAMILIES, GRAPHS_PAGE, INDEX_PAGE, OPERATIONS_PAGE
from conformance.specification.framework_names import FRAMEWORKS, NAMES, FrameworkName
from conformance.specification.graphs import NODES
from conformance.specification.name_table import anchor_of
from conformance.specification.reductions import MEANINGS
from conformance.specification.results import about_argument
from conformance.specification.steps import COMPUTING, EFFECTS
from conformance.specification.topics import TOPICS, Topic
from conformance.specification.words import WORDS
from conformance.specs import OPS


class Entry(NamedTuple):
    """What a word leads to: a ``kind``, a ``title``, what is said of it, clauses, and a link into the pages.

    ``words`` are all words that lead here, the first of which is the one to list.
    """

    kind: str
    title: str
    text: str
    clauses: tuple[str, ...]
    link: str
    words: tuple[str, ...]


REDUCTION_CLAUSES: Final[dict[str, tuple[str, ...]]] = {
    "sum": ("reduction.C1", "reduction.C11", "reduction.C12", "numerics.C1"),
    "mean": ("reduction.C9", "reduction.C10", "reduction.C13", "reduction.C22", "numerics.C2"),
    "premul_sum": ("reduction.C8", "reduction.C17", "numerics.C3", "numerics.C19"),
    "product": ("reduction.C2", "reduction.C11", "reduction.C18", "numerics.C4"),
    "max": ("reduction.C3", "reduction.C16", "reduction.C19", "reduction.C20", "numerics.C21"),
    "min": ("reduction.C4", "reduction.C16", "reduction.C19", "reduction.C20", "numerics.C21"),
    "and": ("reduction.C5", "reduction.C15"),
    "or": ("reduction.C6", "reduction.C15"),
    "xor": ("reduction.C7", "reduction.C15"),
}

DTYPE_CLAUSES: Final[dict[str, tuple[str, ...]]] = {
    "bool": ("collective.C3", "reduction.C11", "reduction.C19", "reduction.C21", "aliasing.C13"),
    "integer": ("reduction.C12", "reduction.C13", "reduction.C22", "graph.C7"),
    "float": ("graph.C8", "graph.C11", "graph.C2"),
    "complex": ("reduction.C16", "reduction.C18", "numerics.C22", "numerics.C24"),
}

_FUNCTION: Final = ("graph.C26", "graph.C40", "graph.C3")
_COMPARISON: Final = ("graph.C9",)

ELEMENTWISE_CLAUSES: Final[dict[str, tuple[str, ...]]] = {
    "exp2": _FUNCTION,
    "log2": _FUNCTION,
    "sin": _FUNCTION,
    "lt": _COMPARISON,
    "ne": _COMPARISON,
    "eq": _COMPARISON,
    "where": ("graph.C10",),
    "max": ("graph.C24", "graph.C37"),
    "min": ("graph.C24", "graph.C37"),
    "recip": ("graph.C25", "graph.C39"),
    "sqrt": ("graph.C25", "graph.C39"),
    "div": ("graph.C7", "graph.C25", "graph.C39"),
    "shl": ("graph.C7", "graph.C41"),
    "shr": ("graph.C7", "graph.C41"),
}
"""The clauses about elementwise operations that neither wrap around nor round as the others do."""

_MOVEMENT: Final = ("graph.C6", "graph.C4")

NODE_CLAUSES: Final[dict[str, tuple[str, ...]]] = {
    "buf": ("graph.C31",),
    "const": ("graph.C16",),
    "iota": ("graph.C15",),
    "var": ("graph.C20", "graph.C21"),
    "reshape": _MOVEMENT,
    "expand": _MOVEMENT,
    "permute": _MOVEMENT,
    "pad": ("graph.C22",),
    "shrink": _MOVEMENT,
    "stride": _MOVEMENT,
    "flip": _MOVEMENT,
    "detach": ("graph.C18",),
    "contig": ("graph.C18",),
    "alu": ("graph.C7", "graph.C8", "graph.C9", "graph.C10"),
    "cast": ("graph.C11", "graph.C12"),
    "reduce": ("graph.C13", "graph.C28", "graph.C29"),
    "gather": ("graph.C14", "graph.C42"),
    "copy": ("graph.C19",),
    "assign": ("graph.C33", "graph.C34", "graph.C43"),
    "call": ("graph.C17", "graph.C30", "graph.C44"),
}
"""The clauses about nodes, by the first name of each."""

_ALIKE: Final[dict[str, tuple[str, ...]]] = {
    "bool": ("boolean", "MPI_C_BOOL"),
    "int8": ("char", "ncclInt8", "MPI_INT8_T"),
    "uint8": ("byte", "ncclUint8", "MPI_BYTE"),
    "int16": ("short", "MPI_INT16_T"),
    "int32": ("ncclInt", "MPI_INT", "MPI_INT32_T"),
    "int64": ("long", "ncclInt64", "MPI_INT64_T"),
    "float16": ("fp16", "f16", "half", "ncclHalf", "ncclFloat16"),
    "bfloat16": ("bf16", "ncclBfloat16"),
    "float32": ("fp32", "f32", "single", "ncclFloat", "MPI_FLOAT"),
    "float64": ("fp64", "f64", "double", "ncclDouble", "MPI_DOUBLE"),
    "float8_e4m3fn": ("e4m3", "f8E4M3FN", "ncclFloat8e4m3"),
    "float8_e5m2": ("e5m2", "f8E5M2", "ncclFloat8e5m2"),
    "complex64": ("cfloat", "MPI_C_FLOAT_COMPLEX"),
    "complex128": ("cdouble", "MPI_C_DOUBLE_COMPLEX"),
}
"""What people call dtypes otherwise."""

_SHORT: Final = {
    "distributed.": "dist.",
    "distributed.nn.functional.": "distributed.nn.",
    "_functional_collectives.": "funcol.",
    "numpy.": "jnp.",
}
"""What modules of frameworks are imported as, or what shows their functions too."""

_CODE: Final = re.compile(r"`([A-Za-z_][\w.]*)(?:\(|=|`)")


def normal(word: str) -> str:
    """Return a word as it is looked up; a number with a sign is looked up as it is."""
    if re.fullmatch(r"[+-][\d.]+", word):
        return word
    return "".join(each for each in word.casefold() if each.isalnum())


def entries() -> tuple[Entry, ...]:
    """Return every entry, the most particular kinds first."""
    return (
        *_operations(),
        *_names(),
        *_topics(),
        *_reductions(),
        *_words(),
        *_families(),
        *_dtypes(),
        *_nodes(),
        *_arguments(),
        *_steps(),
        *_frameworks(),
    )


def by_word(found: Iterable[Entry]) -> dict[str, list[int]]:
    """Return the numbers of the entries that each normal word leads to, those first that have it as their name."""
    made: dict[str, list[tuple[int, int]]] = {}
    for number, entry in enumerate(found):
        for place, word in enumerate(dict.fromkeys(normal(word) for word in entry.words)):
            if word:
                made.setdefault(word, []).append((place, number))
    return {word: [number for _, number in sorted(leads)] for word, leads in made.items()}


def _operations() -> Iterator[Entry]:
    for op in OPS.values():
        clauses = tuple(clause.id for clause in op.clauses)
        yield Entry("operation", op.name, op.summary, clauses, f"{OPERATIONS_PAGE}#{op.name}", (op.name,))


def _names() -> Iterator[Entry]:
    """Yield an entry a name: what all of its rows say."""
    named: dict[tuple[str, str], list[FrameworkName]] = {}
    for row in NAMES:
        named.setdefault((row.framework, row.name), []).append(row)
    for (framework, name), rows in named.items():
        text = " ".join(row.sentence for row in rows)
        clauses = tuple(dict.fromkeys(clause for row in rows for clause in row.clauses))
        link = f"{INDEX_PAGE}#{anchor_of(rows[0])}"
        words = (name, *_parts(framework, name), *(word for row in rows for word in _further(row)))
        yield Entry("name", f"{framework}: {name}", text, clauses, link, tuple(dict.fromkeys(words)))


def _parts(framework: str, name: str) -> Iterator[str]:
    """Yield a name with the framework before it, its last part, and its parts around brackets."""
    yield f"{framework}.{name}"
    yield from (short + name.removeprefix(path) for path, short in _SHORT.items() if name.startswith(path))
    last = name.rpartition(".")[2]
    yield last
    yield from (part for part in re.split(r"[()=\[\]:, ]+", last) if len(part) > 2 and part not in ("True", "False"))


def _further(row: FrameworkName) -> Iterator[str]:
    """Yield names that the row says something of: arguments, and what takes its place."""
    said = f"{row.aspect} `{row.aspect}` {row.difference} {row.status}"
    yield from (found for found in _CODE.findall(said) if len(found) > 2)
    if "_" in row.aspect or row.aspect in ("src", "dst"):
        yield row.aspect.partition("=")[0]


def _topics() -> Iterator[Entry]:
    for each in TOPICS:
        kind = "outside" if each.outside else "topic"
        yield Entry(
            kind, each.name, each.answer, each.clauses, f"{INDEX_PAGE}#{topic_anchor(each)}", (each.name, *each.words)
        )


def topic_anchor(topic: Topic) -> str:
    """Return the anchor of a topic."""
    return f"topic-{topic.name.lower().replace(' ', '-')}"


def _reductions() -> Iterator[Entry]:
    for op in REDUCTIONS:
        yield Entry("reduction", op, MEANINGS[op], REDUCTION_CLAUSES[op], f"{OPERATIONS_PAGE}#reductions", (op,))


def _words() -> Iterator[Entry]:
    for word in WORDS.values():
        clauses = tuple(dict.fromkeys(re.findall(r"`([a-z_]+\.C\d+)`", word.meaning)))
        link = f"{OPERATIONS_PAGE}#word-{word.name.replace(' ', '-')}"
        yield Entry("word", word.name, word.meaning, clauses, link, (word.name,))


def _families() -> Iterator[Entry]:
    for name, family in FAMILIES.items():
        if name not in OPS:
            also = {"collective": ("collectives",), "batches": ("mapping",), "async": ("asynchrony", "asynchronous")}
            link = f"{family.page}#{name}.c1"
            yield Entry("clauses", name, family.summary, (), link, (name, *also.get(name, ())))


def _dtypes() -> Iterator[Entry]:
    for row in ROWS:
        words = (row.name, *_ALIKE.get(row.name, ()))
        said = f"A dtype of the family {row.kind}, of {row.bits} bits.{_past(row.name, row.kind)}"
        yield Entry("dtype", row.name, said, _dtype_clauses(row.name, row.kind), f"{OPERATIONS_PAGE}#dtypes", words)


def _past(name: str, family: str) -> str:
    """Return what is past the greatest number of a float dtype that is computed in."""
    if family != "float" or name not in DRAWN:
        return ""
    most, past = f"{float(ml_dtypes.finfo(name).max):.8g}", "an infinity" if infinite(name) else "NaN"
    free = f" A conversion past it is {past} or saturates: both are right." if DTYPES[name].bits <= 8 else ""
    what = "a sum or a product" if free else "a conversion, a sum or a product"
    model = "the greatest number where the number model says `saturated`"
    return f" Its greatest number is {most}: what {what} rounds past it is {past}, or {model}.{free}"


def _dtype_clauses(name: str, family: str) -> tuple[str, ...]:
    """Return the clauses about a dtype: of floats its subnormal numbers and its greatest number, or its bits alone."""
    if family == "float" and name not in DRAWN:
        return ("collective.C18", "permute.C2")
    kept = {"numerics.C12": name in GRADUAL, "numerics.C13": name in FLUSHED}
    past = {"numerics.C14": infinite(name), "numerics.C15": not infinite(name)} if family == "float" else {}
    own = tuple(clause for clause, holds in (kept | past).items() if holds)
    return (*(("numerics.C1",) if own else ()), *own, *DTYPE_CLAUSES[family])


def _nodes() -> Iterator[Entry]:
    for names, (given, worth) in NODES.items():
        words = tuple(name.strip(" `") for name in names.split(","))
        said = f"A node of a graph{f', which is given {given}' if given else ''}: {worth}."
        clauses = NODE_CLAUSES.get(words[0], ())
        yield Entry("node", ", ".join(words), said, clauses, f"{GRAPHS_PAGE}#what-a-graph-means", words)
    for name in FUNCTIONS:
        said = "An elementwise operation of graphs."
        clauses = ELEMENTWISE_CLAUSES.get(name, ("graph.C7", "graph.C8"))
        yield Entry("elementwise", name, said, clauses, f"{GRAPHS_PAGE}#elementwise-operations-and-folds", (name,))


def _arguments() -> Iterator[Entry]:
    takers: dict[str, list[str]] = {}
    for op, attributes in ATTRIBUTES.items():
        for name in attributes:
            takers.setdefault(name, []).append(op)
    for name, ops in takers.items():
        clauses = tuple(dict.fromkeys(clause for op in ops for clause in about_argument(op, name)))
        yield Entry(
            "argument", name, f"An attribute of {', '.join(ops)}.", clauses, f"{OPERATIONS_PAGE}#{ops[0]}", (name,)
        )


def _steps() -> Iterator[Entry]:
    for line, meaning in (EFFECTS | COMPUTING).items():
        name = line.strip("`").rpartition("= ")[2].partition("(")[0]
        clauses = {"done": ("async.C1", "async.C4", "async.C5"), "assign": ("aliasing.C12",), "copy": ("aliasing.C9",)}
        clauses |= {
            "alu": ("computing.C10", "computing.C11", "computing.C12", "computing.C13"),
            "cast": ("computing.C14",),
        }
        clauses |= {"fold": ("computing.C15",), "dot": ("computing.C16",)}
        yield Entry("step", name, meaning, clauses.get(name, ()), f"{OPERATIONS_PAGE}#how-a-step-is-written", (name,))


def _frameworks() -> Iterator[Entry]:
    for framework, version in FRAMEWORKS.items():
        count = sum(row.framework == framework for row in NAMES)
        link = f"{INDEX_PAGE}#names-of-{framework}"
        yield Entry("framework", framework, f"{version}: {count} rows of names.", (), link, (framework,))
