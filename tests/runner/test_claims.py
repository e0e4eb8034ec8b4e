"""Claims are held against the words that there are, when a backend is loaded, wherever it runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

from conformance.backends.base import Backend
from conformance.backends.claim_limits import plain_claims
from conformance.backends.discovery import DeclarationError, find
from conformance.backends.jax.claims import claims as jax_claims
from conformance.backends.jax.claims import vmap_claims
from conformance.backends.mpi.claims import claims as mpi_claims
from conformance.backends.opencl import OpenCL
from conformance.backends.tinygrad.claims import claims as tinygrad_claims
from conformance.backends.torch import claims as torch_claims
from conformance.cases.case import Case
from conformance.runner.claims import check_claims
from conformance.runner.dialects.spmd import FEATURES
from conformance.runner.draws import draw_cases
from conformance.runner.meaning import meaning
from conformance.runner.plan import Plan
from conformance.runner.worker.in_process import InProcess
from conformance.runner.worker.workers import Worker
from conformance.specs import OPS


@pytest.mark.parametrize("op", OPS)
def test_every_word_of_a_drawn_case_may_be_claimed(op: str) -> None:
    cases: list[Case] = []
    for draws in Plan(ops=(op,), examples=30).draws():
        draw_cases(draws.domain, draws.examples, 11, cases.append)
    for case in cases:
        check_claims({op: {feature: sorted(words) for feature, words in meaning(case).features.words.items()}})


def test_what_every_adapter_claims_is_right() -> None:
    ours = (
        OpenCL().claims,
        jax_claims("cpu", checked=True),
        jax_claims("cpu", checked=False),
        vmap_claims("cpu"),
        mpi_claims(),
        tinygrad_claims(),
    )
    for claims in (*ours, torch_claims.C10D, torch_claims.FUNCTIONAL, torch_claims.CHECKED):
        check_claims(plain_claims(claims))


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        (
            {"all_redcue": {}},
            "claims: unknown operation 'all_redcue'; did you mean 'all_reduce'? known are all_gather, ",
        ),
        ({"AllGather": {}}, "claims: unknown operation 'AllGather'; did you mean 'all_gather'?"),
        ({"xyzzy": {}}, "claims: unknown operation 'xyzzy'; known are all_gather, "),
        ({"broadcast": {"dtpye": ["int8"]}}, "claims of broadcast: unknown feature 'dtpye'; did you mean 'dtype'?"),
        ({"broadcast": {"DType": ["int8"]}}, "claims of broadcast: unknown feature 'DType'; did you mean 'dtype'?"),
        (
            {"gather": {"dtype": ["flaot32"]}},
            "word of dtype 'flaot32'; did you mean 'float32'? known are bool,",
        ),
        ({"gather": {"dtype": ["f32"]}}, "unknown word of dtype 'f32'; did you mean '"),
        ({"all_reduce": {"op": ["add"]}}, "claims of all_reduce: unknown word of op 'add'; "),
        ({"all_reduce": {"op": ["prod"]}}, "unknown word of op 'prod'; did you mean 'product'?"),
        ({"all_reduce": {"reduction": ["sum of float32"]}}, "'sum of float32'; did you mean 'sum of float'?"),
        ({"gather": {"layout": ["stride"]}}, "unknown word of layout 'stride'; did you mean 'strided'?"),
        ({"all_reduce": {"op": ["sum", "unknwon"]}}, "unknown word of op 'unknwon'; did you mean 'unknown'?"),
        (
            {"all_reduce": {"meeting": ["wrld"]}},
            "unknown word of meeting 'wrld'; did you mean 'world'? known are world, ",
        ),
        ({"gather": {"groups": ["unevn"]}}, "unknown word of groups 'unevn'; did you mean 'uneven'?"),
        ({"gather": {"tiled": ["True"]}}, "unknown word of tiled 'True'; did you mean 'true'? known are true, false"),
        ({"gather": {"root": ["0"]}}, "unknown word of root '0'; known are negative, nonnegative, partial"),
        ({"gather": {"effects": ["inplace"]}}, "unknown word of effects 'inplace'; did you mean 'in_place'?"),
        ({"gather": {"flow": ["done-twice"]}}, "unknown word of flow 'done-twice'; did you mean 'done_twice'?"),
        ({"gather": {"world": ["any"]}}, "claims of gather: world 'any' is no whole number in digits; write '1', '2'"),
    ],
)
def test_a_misspelt_word_is_named_with_the_nearest_right_one(claims: Any, said: str) -> None:
    with pytest.raises(DeclarationError) as told:
        check_claims(claims)
    assert said in str(told.value)


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        (["broadcast"], "claims must be a mapping of operations to their limits, such as {'broadcast': {}}; got ["),
        (None, "claims must be a mapping of operations to their limits, such as {'broadcast': {}}; got None"),
        ({"broadcast": None}, "claims of broadcast must be a mapping of features to words"),
        ({"broadcast": ["float32"]}, "claims of broadcast must be a mapping of features to words"),
        (
            {"broadcast": {"dtype": "float32"}},
            "of broadcast: dtype must be a list of words, such as ['float32']",
        ),
        ({"broadcast": {"world": 4}}, "claims of broadcast: world must be a list of words, such as ['4']; got 4"),
        ({"broadcast": {"world": [1, 2]}}, "claims of broadcast: world: words are strings; write '1', not 1"),
        ({"gather": {"tiled": [True]}}, "claims of gather: tiled: words are strings; write 'true', not True"),
        ({1: {}}, "claims: names are strings; got 1"),
    ],
)
def test_a_value_of_the_wrong_type_is_named(claims: Any, said: str) -> None:
    with pytest.raises(TypeError) as told:
        plain_claims(claims)
    assert said in str(told.value)


def test_any_collection_of_words_will_do_and_the_features_of_other_operations_too() -> None:
    plain = plain_claims({"broadcast": {"dtype": {"int32"}, "world": ("1", "8"), "op": iter(["sum"])}, "barrier": {}})
    assert plain == {"broadcast": {"dtype": ["int32"], "world": ["1", "8"], "op": ["sum"]}, "barrier": {}}
    check_claims(plain)
    assert {"dtype", "tiled", "local_axes", "pairs", "world"} <= set(FEATURES)


class Misspelt(Backend):
    claims: ClassVar = {"broadcast": {"dtpye": ["float32"]}}


class Mistyped(Backend):
    claims: ClassVar = {"broadcast": {"dtype": "float32"}}


class Helpful(Backend):
    """Claims by its methods, some of which are no operations."""

    def broadcast(self, blocks: Any, *, root: int, groups: Any) -> Any: ...

    def connect(self) -> None: ...


class Mistaken(Backend):
    def all_redcue(self, blocks: Any, *, op: str, groups: Any) -> Any: ...


@pytest.mark.parametrize("open_worker", [Worker, InProcess])
@pytest.mark.parametrize(
    ("name", "said"),
    [("Misspelt", "did you mean 'dtype'"), ("Mistyped", "list of words"), ("Mistaken", "did you mean 'all_reduce'")],
)
def test_a_backend_with_wrong_claims_does_not_start(name: str, said: str, open_worker: Any) -> None:
    with open_worker(find(f"{__name__}:{name}")) as worker, pytest.raises(DeclarationError, match=said) as told:
        worker.ready  # noqa: B018 - starts the backend
    assert str(told.value).startswith(f"backend '{__name__}:{name}': claims")


def test_methods_that_are_no_operations_claim_nothing() -> None:
    assert Helpful().claims == {"broadcast": {}}
    assert Mistaken().claims == {"all_redcue": {}}


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ('{"broadcast":{"dtpye":[]}}', "claims of broadcast: unknown feature 'dtpye'; did you mean 'dtype'?"),
        ('{"broadcast":{"dtype":"float32"}}', "claims are lists of words by operation and feature: Expected `array`"),
    ],
)
def test_so_is_a_program_in_another_language(claims: str, said: str, tmp_path: Path) -> None:
    ready = f'{{"type":"ready","protocol":1,"name":"b","description":{{}},"claims":{claims}}}'
    program = tmp_path / "speaks.py"
    program.write_text(
        f"import os, time\nos.write(int(os.environ['CONFORMANCE_WRITE']), {ready!r}.encode() + b'\\n')\n"
    )
    with (
        Worker(find(f"exec:{sys.executable} {program}")) as worker,
        pytest.raises(DeclarationError) as told,
    ):
        worker.ready  # noqa: B018 - starts the backend
    assert said in str(told.value)
