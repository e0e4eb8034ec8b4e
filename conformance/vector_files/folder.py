"""Vectors in a folder: written with the same bytes for the same deck, and made again to be held against it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
from safetensors.numpy import save

from conformance import __version__
from conformance.cases.case_error import CaseError
from conformance.cases.schemas import FOLDER
from conformance.cases.whole_file import read_whole
from conformance.runner.deck import meant
from conformance.runner.dialects import further_clauses
from conformance.specs import every_clause
from conformance.vector_files.document import FORMAT, INDEX, SCHEMA, File, Index, Sentence, Shard, Vector
from conformance.vector_files.error import VectorsError
from conformance.vector_files.mistakes import caught, stories
from conformance.vector_files.rules import RULES
from conformance.vector_files.vector import vector
from conformance.vectors.deck import Deck, deck
from conformance.vectors.power import deck_kills

PER_SHARD: Final = 100
"""Vectors of a shard: some 2 MB of text and 2 MB of tensors, which any parser reads whole."""

LARGEST: Final = 1 << 28
"""Bytes of a file of a folder that are read: a shard has some 4 MB."""


def chosen(frozen: Deck, ops: Sequence[str], suites: Sequence[str]) -> list[int]:
    """Return the numbers of the cases of some operations and suites; raise ``VectorsError`` where there is none."""
    found = [
        number
        for number, one in enumerate(frozen.cases)
        if (not ops or one.op in ops) and (not suites or one.suite in suites)
    ]
    if not found:
        raise VectorsError(f"the deck has no case of {', '.join((*ops, *suites))}")
    return found


def files(
    ops: Sequence[str] = (), suites: Sequence[str] = (), told: Callable[[int, int], None] = lambda done, of: None
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of each file of a folder, the index last."""
    frozen = deck()
    numbers = chosen(frozen, ops, suites)
    names, others = caught(deck_kills())
    yield SCHEMA, (FOLDER / SCHEMA).read_bytes()
    shards, clauses, mistakes = [], set[str](), set[str]()
    for start in range(0, len(numbers), PER_SHARD):
        tensors: dict[str, Any] = {}
        made: list[Vector] = []
        for number in numbers[start : start + PER_SHARD]:
            one = frozen.cases[number]
            document, own = vector(one, meant(one), number, names[number], others[number])
            made.append(document)
            tensors |= own.found
            clauses.update(document.clauses)
            if document.expected.refused is not None:
                clauses.add(document.expected.refused.clause)
            mistakes.update(document.catches)
            told(start + len(made), len(numbers))
        stem = f"vectors-{start // PER_SHARD:04}"
        texts = _text(Shard(format=FORMAT, vectors=tuple(made))), save(tensors or {"0/none": np.zeros(0, np.uint8)})
        for suffix, text in zip((".json", ".safetensors"), texts, strict=True):
            yield stem + suffix, text
        digests = tuple(hashlib.sha256(text).hexdigest() for text in texts)
        shards.append(
            File(
                vectors=stem + ".json", tensors=stem + ".safetensors", count=len(made), sha256=(digests[0], digests[1])
            )
        )
    known = {**every_clause(), **further_clauses()}
    told_by = stories()
    index = Index(
        format=FORMAT,
        suite=__version__,
        deck=frozen.digest,
        ops=tuple(ops),
        suites=tuple(suites),
        rules=RULES,
        shards=tuple(shards),
        clauses={
            name: Sentence(requirement=known[name].requirement, text=known[name].text)
            for name in sorted(clauses & known.keys())
        },
        mistakes={name: told_by[name] for name in sorted(mistakes)},
    )
    yield INDEX, _text(index)


def export(
    folder: Path,
    ops: Sequence[str] = (),
    suites: Sequence[str] = (),
    told: Callable[[int, int], None] = lambda done, of: None,
) -> int:
    """Write vectors to a folder that is new or empty, the index last; return how many bytes.

    Raise ``VectorsError`` where there is something in the folder, or where no case is chosen.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise VectorsError(f"{folder} is not empty and was left as it is; choose another folder")
    chosen(deck(), ops, suites)
    folder.mkdir(parents=True, exist_ok=True)
    total = 0
    for name, content in files(ops, suites, told):
        (folder / name).write_bytes(content)
        total += len(content)
    return total


def read_index(folder: Path) -> Index:
    """Return the index of a folder; raise ``VectorsError`` where it is none, or of another format."""
    content = _read(folder, INDEX, "`conformance vectors export` writes it last")
    try:
        head = msgspec.json.decode(content, type=dict[str, Any])
        if head.get("format") != FORMAT:
            raise VectorsError(f"{folder / INDEX} has the format {head.get('format')!r:.40}; {FORMAT} is right")
        return msgspec.json.decode(content, type=Index)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise VectorsError(f"{folder / INDEX} is no index of vectors: {error}") from None


def check(folder: Path, told: Callable[[int, int], None] = lambda done, of: None) -> str:
    """Return where a folder first differs from what this suite makes, or nothing where no byte does.

    Raise ``VectorsError`` where it is no folder of vectors, or where a file is missing, is a link, or is none of it.
    """
    index = read_index(folder)
    listed = {INDEX, SCHEMA, *(name for each in index.shards for name in (each.vectors, each.tensors))}
    for name in sorted(listed):
        _read(folder, name, "the index lists it; export the vectors again")
    strange = sorted(path.name for path in folder.iterdir() if path.name not in listed)
    if strange:
        raise VectorsError(f"{strange[0]!r:.80} is no file of {folder / INDEX}; remove it")
    first = ""
    for name, content in files(index.ops, index.suites, told):
        there = _read(folder, name, "this suite makes it", missing=b"")
        if there != content:
            first = first or f"{name}: {_difference(there, content)}"
            if name.startswith("vectors-"):  # its digests in the index differ for that
                return first
    return first


def _difference(there: bytes, right: bytes) -> str:
    both = min(len(there), len(right))
    one, other = np.frombuffer(there[:both], np.uint8), np.frombuffer(right[:both], np.uint8)
    unlike = np.flatnonzero(one != other)
    at = int(unlike[0]) if len(unlike) else both
    if at == both:
        return f"it has {len(there)} bytes, and {len(right)} are right"
    line = there.count(b"\n", 0, at) + 1
    shown = [side[max(at - 40, 0) : at + 40].decode("utf-8", "replace") for side in (there, right)]
    return f"byte {at}, line {line}: {shown[0]!r} is there, {shown[1]!r} is right"


def _read(folder: Path, name: str, why: str, missing: bytes | None = None) -> bytes:
    path = folder / name
    if "/" in name or path.is_symlink() or not path.is_file():
        if missing is not None:
            return missing
        raise VectorsError(f"{folder} is no folder of vectors: it has no {name!r:.80}; {why}")
    try:
        return read_whole(path, LARGEST)
    except CaseError as error:
        raise VectorsError(f"{path}: {error}") from None


def _text(document: msgspec.Struct) -> bytes:
    """Return a document as text, a vector a line."""
    encoded = msgspec.json.encode(document, order="deterministic")
    return msgspec.json.format(encoded, indent=1) + b"\n" if isinstance(document, Index) else _lines(document)


def _lines(document: msgspec.Struct) -> bytes:
    assert isinstance(document, Shard)
    rows = b",\n".join(msgspec.json.encode(each, order="deterministic") for each in document.vectors)
    return b'{"format":%d,"vectors":[\n' % document.format + rows + b"\n]}\n"
