"""Inputs of every target, drawn, and what is done with each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from hypothesis import strategies as st

from conformance.runner.worker import wire
from tests.fuzz import answers
from tests.fuzz.changes import PLACES, byte_changes, changed_bytes, changed_tree, tree_changes, written
from tests.fuzz.documents import Files
from tests.fuzz.guard import call, command
from tests.fuzz.targets import DIALECTS, TARGETS, Target

KINDS: Final = st.sampled_from(("tree", "tree", "tree", "tree", "bytes", "both"))
"""Most changes of bytes are refused by the decoder, and say little."""

Input = tuple[int, str, list[Any], list[Any]]
"""Which valid document, or talk, and which command; what is changed; and how."""

inputs: Final = st.tuples(PLACES, KINDS, tree_changes, byte_changes)


def content_of(form: Any, content: bytes, given: Input) -> bytes:
    """Return the bytes of a document, changed."""
    _, kind, in_tree, in_bytes = given
    if kind != "bytes":
        content = form.written(content, changed_tree(form.tree(content), in_tree))
    return content if kind == "tree" else changed_bytes(content, in_bytes)


def laid_out(target: Target, given: Input, folder: Path) -> list[str]:
    """Write the files of an input into a folder, and return the command that reads them."""
    which, kind, *_ = given
    valid = target.valid()
    files: Files = valid[which % len(valid)]
    for number, (name, content) in enumerate(files.items()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content if number else content_of(target.form, content, given))
    if kind == "tree":
        target.mended(folder / next(iter(files)))
    words = target.words[which // len(valid) % len(target.words)]
    return [word.replace("{}", str(folder)) for word in words]


def _file(target: Target) -> Callable[[Input], None]:
    def act(given: Input) -> None:
        with TemporaryDirectory(prefix="fuzz-") as folder:
            command(laid_out(target, given, Path(folder)))

    return act


def _line(tree: Any, given: Input) -> bytes:
    _, kind, in_tree, in_bytes = given
    line = written(tree if kind == "bytes" else changed_tree(tree, in_tree))
    return (line if kind == "tree" else changed_bytes(line, in_bytes)).replace(b"\n", b" ")


def _answer(dialect: str) -> Callable[[Input], None]:
    def act(given: Input) -> None:
        one, number, tree = answers.answer_tree(dialect, given[0])
        line = _line(tree, given)
        with TemporaryDirectory(prefix="fuzz-") as folder:
            call(lambda: answers.judged(one, number, line, Path(folder)), ())

    return act


def _answer_by_file(given: Input) -> None:
    one, number, tree = answers.answer_tree("spmd", given[0])
    with TemporaryDirectory(prefix="fuzz-") as folder:
        (Path(folder) / "answer.json").write_bytes(_line(tree["observation"], given))
        line = json.dumps({"type": "done", "seq": 1, "file": "answer.json"}).encode()
        call(lambda: answers.judged(one, number, line, Path(folder)), ())


def _introduction(given: Input) -> None:
    line = _line(answers.introduction(), given)
    call(lambda: wire.introduction(line).terms, answers.REFUSALS)


def _request(dialect: str) -> Callable[[Input], None]:
    def act(given: Input) -> None:
        with TemporaryDirectory(prefix="fuzz-") as folder:
            line = _line(answers.requests(dialect, given[0], Path(folder)), given)
            call(lambda: answers.served(line, Path(folder)), answers.UNSERVED)

    return act


ACTS: Final[dict[str, Callable[[Input], None]]] = {
    **{target.name: _file(target) for target in TARGETS},
    **{f"answer about {dialect}": _answer(dialect) for dialect in DIALECTS},
    "answer by a file": _answer_by_file,
    "introduction": _introduction,
    **{f"request of {dialect}": _request(dialect) for dialect in DIALECTS},
}
"""What is done with an input of each target, by name."""
