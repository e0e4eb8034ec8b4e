"""Inputs as commands: a process for each, its memory bounded, in a process group that nothing may outlive."""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.fuzz import answers
from tests.fuzz.changes import BYTES, TREE, changed_tree, written
from tests.fuzz.guard import Ended, Finding, check
from tests.fuzz.inputs import Input, laid_out
from tests.fuzz.targets import TARGETS, Target

MEMORY: Final = 6 << 30
"""Bytes of address space of a command, of which the libraries that it loads take two."""

PATIENCE: Final = 120
"""Seconds of a command on a busy machine."""

SPEAKING: Final = Path(__file__).with_name("speaking.py")


def as_commands(names: Sequence[str], count: int, seed: int) -> Iterator[str]:
    """Run inputs of the targets named, and answers of a process beside another backend; yield what was wrong."""
    dice = random.Random(seed)
    chosen = [target for target in TARGETS if target.name in names]
    for number in range(count if chosen else 0):
        try:
            if number % 5:
                _read(chosen[number % len(chosen)], _drawn(dice))
            else:
                _answered(dice)
        except Finding as finding:
            yield f"command {number}: {finding}"


def _drawn(dice: random.Random) -> Input:
    """Return an input."""

    def change(words: tuple[str, ...]) -> tuple[str, int, int]:
        return dice.choice(words), dice.randrange(1 << 20), dice.randrange(1 << 20)

    kind = dice.choice(("tree", "tree", "tree", "bytes", "both"))
    in_tree = [change(TREE) for _ in range(dice.randrange(1, 4))]
    return dice.randrange(1 << 20), kind, in_tree, [change(BYTES)]


def _read(target: Target, given: Input) -> None:
    with TemporaryDirectory(prefix="fuzz-") as folder:
        words = laid_out(target, given, Path(folder))
        try:
            check(_ended(words, folder))
        except Finding as finding:
            raise Finding(f"{target.name}: {finding}\n    {given!r}") from None


def _answered(dice: random.Random) -> None:
    """Give a changed answer to every question of a run, and see that the other backend's results are kept."""
    _, _, tree = answers.answer_tree("spmd", dice.randrange(1 << 20))
    _, _, changes, _ = _drawn(dice)
    line = written(changed_tree(tree, changes))
    with TemporaryDirectory(prefix="fuzz-") as folder:
        (Path(folder) / "answer").write_bytes(line)
        beside = f"reference,exec:{sys.executable} {SPEAKING} {folder}/answer"
        words = ["run", "-b", beside, "--op", "broadcast", "--suite", "collectives", "--examples", "3"]
        ended = _ended([*words, "--case-limit", "20s", "--json", "-o", f"{folder}/out"], folder)
        try:
            check(ended)
            if ended.status != 2:
                _check_kept(json.loads(ended.out)["backends"]["reference"]["outcomes"])
        except (Finding, ValueError, KeyError) as finding:
            raise Finding(f"answer beside another backend: {finding}\n    {changes!r} {ended.err[-300:]}") from None


def _check_kept(outcomes: dict[str, int]) -> None:
    """Raise ``Finding`` unless a right backend passed all that it was asked."""
    if set(outcomes) != {"passed"}:
        raise Finding(f"the other backend came to {outcomes}")


def _ended(words: list[str], folder: str) -> Ended:
    """Run a command, and see that nothing of it is left."""
    process = subprocess.Popen(
        [sys.executable, "-m", "conformance", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        cwd=folder,
        preexec_fn=_bounded,  # noqa: PLW1509 - there is one thread
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        raise Finding(f"no end within {PATIENCE} s: {words}") from None
    if _group(process.pid):
        os.killpg(process.pid, 9)
        raise Finding(f"a process of it outlives it: {words}")
    return Ended(process.returncode, out, err)


def _bounded() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _group(leader: int) -> bool:
    """Return whether a process group has a member."""
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    return True
