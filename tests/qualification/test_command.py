"""``conformance qualify`` on the command line: what cannot be is one line, and what was begun goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance.backends.reference import Reference
from conformance.cases.tensor.dtypes import Array
from conformance.cli import main

THEIRS = """
import time
from conformance.backends.base import Backend
from conformance.reference.operations.barrier import barrier

class Hangs(Backend):
    claims = {"barrier": {}}
    def execute(self, case):
        while True:
            time.sleep(1)

class DoesNotStart(Backend):
    def __init__(self):
        raise RuntimeError("no device")
    def barrier(self, *, groups):
        return None

class HasNoMethod(Backend):
    pass

class Refuses(Backend):
    def barrier(self, *, groups):
        raise ValueError("never")
"""


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--auto", "0"], "--auto 0: there are 1 to"),
        (["--auto", "1000000"], "--auto 1000000: there are 1 to"),
        (["--only", "auto"], "--only auto needs a number"),
        (["--auto", "9", "--family", "engin"], "did you mean 'engine'"),
        (["--family", "engine"], "--family needs a number"),
        (["--code", "types"], "--code needs a number"),
        (["--auto", "9", "--code", "typos"], "no module that is changed has 'typos' in its name"),
        (["--auto", "9", "--code", "types", "--family", "conditional"], "the family conditional changes no code"),
        (["--mutants", ""], "--mutants names nothing"),
        (["--mutants", "no_such_module"], "no mutants module"),
        (["--suite", "aliasin"], "did you mean 'aliasing'"),
        (["--op", "all_reduc"], "did you mean 'all_reduce'"),
        (["--resume"], "--resume needs the folder"),
    ],
)
def test_what_cannot_be_is_one_line_and_writes_nothing(
    words: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = [] if "--resume" in words else ["-o", str(tmp_path / "rows")]
    assert main(["qualify", *words, *folder]) == 2
    told = capsys.readouterr().err.strip()
    assert problem in told
    assert "Traceback" not in told
    assert not (tmp_path / "rows").exists()


@pytest.mark.slow
def test_mutants_that_hang_do_not_start_or_have_no_method_are_told_and_it_goes_on(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / "strangers.py").write_text(THEIRS)
    words = ["qualify", "--mutants", str(tmp_path / "strangers.py"), "--op", "barrier", "--suite", "collectives"]
    words += ["--examples", "5", "--json", "-o", str(tmp_path / "rows")]
    assert main(words) == 3
    rows = {row["name"]: row for row in msgspec.json.decode(capsysbinary.readouterr().out)["mutants"]}
    assert (rows["Hangs"]["killed"], rows["Refuses"]["killed"]) == (True, True)
    assert "no device" in rows["DoesNotStart"]["problem"]
    assert "changes nothing" in rows["HasNoMethod"]["problem"]
    assert main([*words, "--resume"]) == 3
    assert len(msgspec.json.decode(capsysbinary.readouterr().out)["mutants"]) == len(rows)


@pytest.mark.slow
def test_a_folder_is_filled_family_by_family(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    words = ["qualify", "--auto", "9", "--only", "auto", "--op", "barrier", "--examples", "4", "--json"]
    words += ["-o", str(tmp_path / "rows"), "--family"]
    main([*words, "conditional"])
    first = msgspec.json.decode(capsysbinary.readouterr().out)["auto"]["families"]
    main([*words, "reference", "--resume"])
    second = msgspec.json.decode(capsysbinary.readouterr().out)["auto"]["families"]
    assert [first[name]["mutants"] for name in ("reference", "engine", "conditional")] == [0, 0, 3]
    assert [second[name]["mutants"] for name in ("reference", "engine", "conditional")] == [3, 0, 0]
    assert len((tmp_path / "rows" / "auto.jsonl").read_bytes().splitlines()) == 7


class TurnsBlocks(Reference):
    """Gives every rank the block that its source has the other way round, which is wrong."""

    kind = "storage"

    def broadcast(self, blocks: list[Array], **how: Any) -> list[Array]:
        return [block[::-1] if block.ndim else block for block in super().broadcast(blocks, **how)]


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_a_variant_that_is_refused_is_told_with_the_first_case(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.cli.commands.qualify.variants", lambda: (TurnsBlocks,))
    asked = ["--only", "variants", "--suite", "collectives", "--op", "broadcast", "--examples", "8", "--in-process"]
    assert main(["qualify", *asked, *words]) == 1
    told = capsys.readouterr().out
    if not words:
        assert "variant TurnsBlocks REFUSED by broadcast.C1 on broadcast/" in told
        return
    (row,) = msgspec.json.decode(told)["variants"]
    assert row["refused"]["broadcast.C1"].startswith("broadcast/")
