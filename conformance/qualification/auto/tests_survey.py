"""Which tests come to which change of the runner: all of them run once on the unchanged code, which tells of each."""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from conformance.qualification.auto.chosen_tests import SEEN
from conformance.qualification.auto.clone_copy import copied, tested
from conformance.qualification.auto.source.changes import CAME, Change, announcing_tree
from conformance.qualification.auto.source.shadow import source_of

LONGEST: Final = 7_200.0
"""Seconds that all tests may take; on two idle cores they take some 400, on busy ones five times that."""

ANNOUNCED: Final = f"""
def {CAME}(word):
    import builtins, contextlib, os
    seen = vars(builtins).setdefault({SEEN!r}, set())
    if word not in seen:
        seen.add(word)
        with contextlib.suppress(OSError):
            with open(os.path.join({{notes}}, "now"), encoding="utf-8") as file:
                now = file.read()
            with open(os.path.join({{notes}}, "came"), "a", encoding="utf-8") as file:
                file.write(word + " " + now + "\\n")
"""
"""What a module is led by that tells in which test it is come to; a worker, a process of its own, tells so, too."""


@dataclass(frozen=True)
class Survey:
    """The tests that come to each change, by its digest, and to each module; the ``seconds`` of those that pass."""

    of: Mapping[str, frozenset[str]]
    seconds: Mapping[str, float]

    def order(self, change: Change, near: Sequence[str]) -> tuple[str, ...]:
        """Return the tests to run: near files first, then of short tests; of what an import executes any test tells."""
        every = set(self.seconds)
        met = (self.of.get(change.digest, frozenset()) if change.below else self.of.get(change.module, every)) & every
        files: dict[str, list[str]] = defaultdict(list)
        for test in met if change.below else every:
            files[test.partition("::")[0]].append(test)

        def place(file: str) -> tuple[bool, int, float]:
            at = next((at for at, each in enumerate(near) if file == each or file.startswith(f"{each}/")), len(near))
            return not met & {*files[file]}, at, sum(self.seconds[test] for test in files[file]) / len(files[file])

        return tuple(
            test
            for file in sorted(files, key=place)
            for test in sorted(files[file], key=lambda test: self.seconds[test])
        )


def survey(root: Path, changes: Sequence[Change], tests: Sequence[str], jobs: int) -> Survey:
    """Run the ``tests`` of a clone once, by as many processes as ``jobs``, and return what comes to which change."""
    files = sorted(
        str(file.relative_to(root))
        for each in tests
        for file in ([root / each] if (root / each).is_file() else (root / each).rglob("test_*.py"))
    )
    with ThreadPoolExecutor(jobs) as pool:
        told = list(pool.map(lambda part: _part(root, changes, part), [files[at::jobs] for at in range(jobs)]))
    of: dict[str, set[str]] = defaultdict(set)
    seconds: dict[str, float] = defaultdict(float)
    failed: set[str] = set()
    for came, ended in told:
        for line in came.splitlines():
            word, _, test = line.partition(" ")
            of[word].add(test)
        for line in ended.splitlines():
            test, outcome, took = json.loads(line)
            seconds[test] += took
            if outcome != "passed":
                failed.add(test)
    kept = {test: took for test, took in seconds.items() if test not in failed}
    return Survey({word: frozenset(found) for word, found in of.items()}, kept)


def _part(root: Path, changes: Sequence[Change], files: Sequence[str]) -> tuple[str, str]:
    if not files:
        return "", ""
    mine: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        mine[change.module].append(change)
    trees = {
        module: (_entered(announcing_tree(source_of(module), of), module), ANNOUNCED) for module, of in mine.items()
    }
    with copied(root, trees) as folder:
        notes = folder.parent / "notes"
        tested(folder, files, chosen=(), seconds=LONGEST)
        return tuple(
            (notes / name).read_text(encoding="utf-8") if (notes / name).exists() else "" for name in ("came", "ended")
        )  # type: ignore[return-value]  # two


def _entered(tree: ast.Module, module: str) -> ast.Module:
    """Put a call that names the module at the head of each of its functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.body.insert(int(ast.get_docstring(node) is not None), ast.parse(f"{CAME}({module!r})").body[0])
    return ast.fix_missing_locations(tree)
