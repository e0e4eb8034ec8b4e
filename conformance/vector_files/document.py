"""The documents of exported vectors, and their published JSON Schema.

A folder has ``index.json``, and for each shard ``vectors-NNNN.json`` with a ``vectors-NNNN.safetensors`` beside it.
``python -m conformance.vector_files.document`` writes the schema again.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from conformance.cases.schemas import FOLDER, published, written
from conformance.cases.tensor.dtypes import NUMPY
from conformance.judging.clause import Requirement
from conformance.vector_files.rules import Rule
from conformance.vectors.stored import Form

FORMAT: Final = 1
INDEX: Final = "index.json"
SCHEMA: Final = "vectors.schema.json"

Key = Annotated[str, Meta(pattern="^[0-9]+/.+$")]
"""What a tensor is called in the file of tensors of its shard: the number of the vector, and what it is in it."""


class Block(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A tensor. Its bits are in the safetensors file under ``at``, as unsigned integers of the dtype's width.

    Elements of 16 bytes are two of 8 along a last axis; those of fewer than 8 bits are the lowest bits of a byte.
    """

    dtype: str
    shape: tuple[Annotated[int, Meta(ge=0)], ...]
    at: Key


class ResultBlock(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One block of a result: the reference's bits ``at`` a key, and by which ``rule`` another one is right.

    Of complex elements both parts have a rule, the real one first. Where parts have different rules, ``rules`` has
    numbers of the index's list of rules, a U8 a part. ``choices`` are bits of parts behind each other, and ``first``,
    U32, says for each part and once more where its choices begin. ``low`` and ``high`` are bits of float64 a part,
    ``radius`` bits of a float64 an element.
    """

    dtype: str
    shape: tuple[Annotated[int, Meta(ge=0)], ...]
    at: Key
    rule: Rule | None = None
    rules: Key | None = None
    choices: Key | None = None
    first: Key | None = None
    low: Key | None = None
    high: Key | None = None
    radius: Key | None = None


class Refusal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """That the program is refused, by the clause that it breaks; where only some ``ranks`` cannot go on, by these."""

    clause: str
    requirement: Requirement
    ranks: tuple[int, ...] | None = None


class Expected(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is right: a refusal, or of each result a block a rank, ``null`` where a rank has none.

    Of graphs and sharded programs a result has one block, the whole value. Of typed programs ``d NAME`` is the
    cotangent of an input, ``t NAME`` the tangent of a result, and ``types`` are the states of values along mesh axes.
    """

    refused: Refusal | None = None
    results: dict[str, tuple[ResultBlock | None, ...]] = {}
    types: dict[str, Any] = {}


How = Annotated[str, Meta(pattern="^(exact|one_of|between|refused|advised|unstated)$")]


class Vector(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One case of the deck.

    ``program`` is a program, or a graph; ``inputs`` are its tensors by name, and ``rest`` is what else the case has:
    faults, rounds, cotangents, placements.

    ``how`` is the loosest way in which a part of its results is held: ``exact`` (bits, or equal numbers), ``one_of``,
    ``between`` (``within`` among them), ``advised`` (whatever it is, no *must* is broken), ``refused``; or
    ``unstated``, of a schedule that is asked for, which clauses alone judge. ``catches`` are mistakes of the index, and
    ``automatic`` counts those that nobody wrote.
    """

    number: Annotated[int, Meta(ge=0)]
    name: str
    form: Form
    suite: str
    op: str
    how: How
    program: dict[str, Any]
    inputs: dict[str, Any]
    rest: dict[str, Any]
    expected: Expected
    clauses: tuple[str, ...]
    catches: tuple[str, ...]
    automatic: int


class Shard(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of vectors."""

    format: int
    vectors: tuple[Vector, ...]


class Sentence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a clause says."""

    requirement: Requirement
    text: str


class File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A shard: its files, the SHA-256 of each, and how many vectors it has."""

    vectors: str
    tensors: str
    count: int
    sha256: tuple[str, str]


class Index(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a folder has: whose deck it is and which part of it, its shards, and what names in vectors stand for."""

    format: int
    suite: str
    deck: str
    ops: tuple[str, ...]
    suites: tuple[str, ...]
    rules: tuple[Rule, ...]
    shards: tuple[File, ...]
    clauses: dict[str, Sentence]
    mistakes: dict[str, str]


def vectors_schema() -> dict[str, Any]:
    """Return the schema of all documents of a folder: of its index, and of its shards."""
    _, parts = msgspec.json.schema_components((Index, Shard), ref_template="#/$defs/{name}")
    for name in ("Block", "ResultBlock"):
        if name in parts:
            parts[name]["properties"]["dtype"] = {"enum": sorted(NUMPY)}
    for name in ("Index", "Shard"):
        parts[name]["properties"]["format"] = {"const": FORMAT}
    extra = msgspec.json.schema_components((Block,), ref_template="#/$defs/{name}")[1]
    parts |= {name: part for name, part in extra.items() if name not in parts}
    parts["Block"]["properties"]["dtype"] = {"enum": sorted(NUMPY)}
    schema = {"anyOf": [{"$ref": "#/$defs/Index"}, {"$ref": "#/$defs/Shard"}], "$defs": parts}
    return published("vectors", "Vectors: cases of the deck with what is right", schema)


if __name__ == "__main__":
    (FOLDER / SCHEMA).write_text(written(vectors_schema()))
