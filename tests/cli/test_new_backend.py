from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Conformance


def test_a_new_backend_works_and_so_does_its_test(conformance: Conformance) -> None:
    ended = conformance("new-backend", "acme-two")
    assert (ended.status, {path.name for path in Path().iterdir()}) == (0, {"acme_two.py", "test_acme_two.py"})
    assert ended.out.splitlines()[-1] == "next: conformance smoke -b acme_two:AcmeTwo"
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_acme_two.py"]
    tested = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (tested.returncode, "1 passed" in tested.stdout) == (0, True), tested.stdout


# In this process NumPy would raise where it warns of overflow; in a worker it warns.
@pytest.mark.filterwarnings("default")
def test_a_new_backend_conforms_within_its_claims(conformance: Conformance, monkeypatch: pytest.MonkeyPatch) -> None:
    conformance("new-backend", "acme-three")
    monkeypatch.syspath_prepend(Path.cwd())
    words = ("--op", "all_reduce,broadcast", "--suite", "collectives", "--examples", 120, "-o", "out", "--in-process")
    ended = conformance("run", "-b", "acme_three:AcmeThree", *words)
    assert ended.status == 0, ended


def test_what_is_there_is_not_overwritten_and_no_name_is_one_line(conformance: Conformance) -> None:
    Path("acme.py").write_text("mine")
    ended = conformance("new-backend", "acme")
    assert (ended.status, ended.err.count("\n"), Path("acme.py").read_text()) == (2, 1, "mine")
    assert "acme.py exists and was left as it is" in ended.err
    ended = conformance("new-backend", "2 many")
    assert (ended.status, "'2 many' is no name for a module" in ended.err) == (2, True)
    assert [path.name for path in Path().iterdir()] == ["acme.py"]
