"""The index leads from every word to clauses that exist, and ``spec`` reads it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.runner.dialects import further_clauses
from conformance.specification.document import pages
from conformance.specification.families import FAMILIES
from conformance.specification.index import by_word, entries, normal
from conformance.specification.kept_answers import FOLDER, kept_answers
from conformance.specification.topics import OUTSIDE, TOPICS
from conformance.specs import OPS, every_clause
from tests.cli.conftest import Conformance, conformance

__all__ = ["conformance"]

CLAUSES = {**every_clause(), **further_clauses()}

ASKED = [
    *(
        "AVG",
        "pvary",
        "pcast",
        "vmap",
        "shard_map",
        "check_vma",
        "Partial",
        "Shard",
        "redistribute",
        "DTensor",
        "realize",
    ),
    *("contiguous", "MPI_IN_PLACE", "ncclAllReduce", "all_gather_invariant", "done", "cast", "assign", "rank"),
    *("collective", "reduction", "numerics", "sharded", "graph", "axis_index_groups", "bfloat16", "NaN", "deadlock"),
    *(
        "1F1B",
        "dist.all_gather",
        "distributed.nn.all_reduce",
        "jnp.promote_types",
        "funcol.all_reduce",
        "microbatch",
        "horovod",
        "DDP",
        "requires_grad",
        "promote_types",
        "MPI_Send",
        "MPI_Recv",
    ),
    *("all_gather_tensor_autograd", "distributed.nn.functional.all_gather", "both ranks send first", "warmup", "join"),
    *("reduce_scatter_single", "all_gather_single", "MPI_Reduce_scatter", "group_src", "uneven", "timeout", "wait"),
    *("symmetric memory", "one_shot_all_reduce", "should_skip_wait", "MultiLazyBuffer", "positional axis", "stride 0"),
    *("remove_size_one_mesh_axis_from_type", "c10d_functional.all_reduce", "axis_index in groups", "LazyBuffer"),
]
"""Words that readers looked up and that once led nowhere."""


@pytest.mark.parametrize("word", ASKED)
def test_a_word_that_readers_looked_up_leads_somewhere(word: str) -> None:
    assert by_word(entries())[normal(word)]


def test_entries_name_clauses_that_exist_and_say_something() -> None:
    for entry in entries():
        assert set(entry.clauses) <= set(CLAUSES), entry.title
        assert entry.text.endswith((".", ")")) or entry.kind in {"reduction", "node"}, entry


def test_every_family_is_told_of_and_every_topic_answers() -> None:
    assert {id.partition(".")[0] for id in CLAUSES} == set(FAMILIES) - {"barrier", "axis_index"} | {
        "barrier",
        "axis_index",
    }
    assert len({topic.name for topic in TOPICS}) == len(TOPICS)
    assert all(topic.clauses for topic in TOPICS if not topic.outside)
    said = " ".join(topic.name for topic in OUTSIDE)
    assert all(word in said for word in ("host", "completion", "callers outside", "v-variants", "realization"))


def test_every_link_of_a_page_has_its_anchor() -> None:
    made = pages()
    anchors = {page: set(re.findall(r'<a id="([^"]+)"></a>', text)) for page, text in made.items()}
    for page, text in made.items():
        headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
        anchors[page] |= {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}
    for page, text in made.items():
        for file, anchor in re.findall(r"\]\(([\w-]*(?:\.md)?)#([^)]+)\)", text):
            home = file or page
            assert home not in made or anchor in anchors[home], (page, file, anchor)


def test_words_and_clauses_are_links_wherever_pages_name_them() -> None:
    text = pages()["specification.md"]
    assert "[position](#word-position)" in text
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    bare = {id for id in re.findall(r"(?<!</a>)(?<!\[)`([a-z_]+\.C\d+)`", prose) if id in CLAUSES}
    assert bare == set()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("spec", "all_"), "'all_' is the beginning of several words: "),
        (("spec", "ReduceOp.AGV"), "did you mean 'ReduceOp.AVG'?"),
        (
            ("spec", "tensorflow.collective_reduce"),
            "unknown operation, clause or source 'tensorflow.collective_reduce'",
        ),
        (("spec", "hvd.allreduce"), "names of hvd are not compared (`conformance spec hvd` says why)"),
        (("spec", "paddle.distributed.all_reduce"), "names of paddle are not compared"),
        (("spec", "MPI_Alreduce"), "did you mean"),
        (("spec", "all_gather.C99"), "did you mean 'all_gather.C"),
        (("spec", "foo.all_reduce"), "unknown module in 'foo.all_reduce': 'foo'; `conformance spec all_reduce` has"),
        (("spec", "jaxx.psum"), "did you mean 'jax'?"),
        (("spec", "np.maximum"), "names of np are not compared"),
        (("spec", "mlx.broadcast"), "unknown name of mlx 'mlx.broadcast'"),
        (("spec", "--search", "nan zebra"), "; the best, "),
        (("spec", "--search", "zebras"), "no sentence of the specification has all of 'zebras'"),
        (("spec", "deadlock of zebras"), "has 'deadlock' and not 'zebras'"),
    ],
)
def test_a_word_that_leads_nowhere_is_one_line_with_the_nearest(
    conformance: Conformance, words: tuple[str, ...], says: str
) -> None:
    ended = conformance(*words)
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert says in ended.err


def test_a_search_shows_the_best_partial_match_and_has_endings_and_names_left_out(conformance: Conformance) -> None:
    partly = conformance("spec", "--search", "zebras", "that", "wait", "twice")
    assert partly.status == 2
    assert partly.out.startswith("waiting twice")
    whole = conformance("spec", "psum", "int8", "overflows")
    assert whole.status == 0
    assert "reduction.C12" in whole.out
    found = json.loads(conformance("spec", "--search", "gathering of uneven blocks", "--json").out)["sentences"]
    assert found[0]["has"] == ["gathering", "uneven", "blocks"]


def test_a_path_to_a_function_is_of_its_framework_alone(conformance: Conformance) -> None:
    assert conformance("spec", "comm.Allreduce").out.startswith("mpi: MPI_Allreduce")
    assert conformance("spec", "mx.distributed.all_sum").out.startswith("mlx: ")
    assert "torch" not in conformance("spec", "jax.lax.all_gather").out.partition("all_gather:")[0]


def test_a_name_is_told_with_what_is_otherwise_and_then_the_operation(conformance: Conformance) -> None:
    said = conformance("spec", "torch.distributed.broadcast").out
    assert "`src` is a rank of the world" in said
    assert "broadcast.C2" in said.partition("Shared with")[0]
    assert json.loads(conformance("spec", "psum", "--json").out)["name"] == "all_reduce"
    assert "reduce_constant.C1" in conformance("spec", "psum").out
    assert "pmax drops NaN" in conformance("spec", "reduction.C20").out


def test_a_number_with_a_sign_is_a_word_and_an_unknown_option_is_none(conformance: Conformance) -> None:
    assert conformance("spec", "-0.0").out.startswith("signed zeros (topic)")
    assert conformance("spec", "--", "-0.0").out == conformance("spec", "-0.0").out
    refused = conformance("spec", "psum", "--jsn")
    assert (refused.status, refused.out) == (2, "")
    assert "No such option '--jsn'. Did you mean '--json'?" in refused.err


def test_shared_clauses_of_an_operation_are_printed_on_demand(conformance: Conformance) -> None:
    brief, whole = (conformance("spec", "all_reduce", *more).out for more in ((), ("--all",)))
    assert "clauses; `conformance spec all_reduce --all` prints them." in brief
    assert "collective.C14 " not in brief
    assert "collective.C14 " in whole
    named = conformance("spec", "ncclAllReduce").out
    assert "ncclAllReduce is `all_reduce` by its documents; no test runs it." in named
    assert len(named.splitlines()) < 16


@pytest.mark.parametrize("name", ["distributed.isend", "Work.wait", "MPI_Isend", "MPI_Iallreduce", "MPI_Wait"])
def test_what_frameworks_forbid_before_the_wait_is_said(conformance: Conformance, name: str) -> None:
    said = conformance("spec", name).out
    assert "writing the buffer before the wait, is otherwise than" in said
    assert "waits.C4" in said


@pytest.mark.parametrize(
    ("word", "titles"),
    [
        ("overflow", ["infinity", "integer overflow"]),
        ("accumulation", ["accumulation dtype"]),
        ("lt", ["lt"]),
        ("float8_e4m3fn", ["float8_e4m3fn", "conversion past the greatest number"]),
    ],
)
def test_a_word_leads_to_what_is_called_so_alone(conformance: Conformance, word: str, titles: list[str]) -> None:
    assert [each["title"] for each in json.loads(conformance("spec", word, "--json").out)["index"]] == titles


@pytest.mark.parametrize(("word", "clause"), [("lt", "C9"), ("ne", "C9"), ("eq", "C9"), ("where", "C10")])
def test_comparisons_and_choices_lead_to_their_clauses(conformance: Conformance, word: str, clause: str) -> None:
    assert f"graph.{clause} " in conformance("spec", word).out


def test_a_clause_says_where_it_stands(conformance: Conformance) -> None:
    said = conformance("spec", "all_gather.C4").out
    file, line = re.search(r"defined in (\S+):(\d+)", said).groups()  # type: ignore[union-attr]
    root = Path(__file__).parents[2]
    assert '"all_gather.C4"' in (root / file).read_text().splitlines()[int(line) - 1]
    assert re.search(r"checked in conformance/\S+\.py:\d+", said)


def test_answers_are_kept_and_made_again_when_they_cannot_be_read(tmp_path: Path) -> None:
    made: list[int] = []

    def make() -> dict[str, int]:
        made.append(1)
        return {"a": len(made)}

    environ = {FOLDER: str(tmp_path)}
    assert [kept_answers(make, environ)["a"] for _ in range(2)] == [1, 1]
    next(tmp_path.glob("*.json")).write_text("{")
    assert kept_answers(make, environ)["a"] == 2
    assert kept_answers(make, {FOLDER: "off"})["a"] == 3


def test_spec_imports_neither_numpy_nor_the_engine(tmp_path: Path) -> None:
    """With answers that are kept it takes less than half a second, of which the engine alone would take more."""
    environ = {FOLDER: str(tmp_path), "HOME": str(tmp_path)}
    asked = [sys.executable, "-X", "importtime", "-m", "conformance", "spec", "reduce_scatter"]
    first, again = (subprocess.run(asked, check=True, capture_output=True, text=True, env=environ) for _ in range(2))
    assert " numpy\n" in first.stderr
    assert not re.search(r" (numpy|conformance\.(runner|judging|specs))\b", again.stderr)


def test_every_operation_is_in_the_index_and_every_clause_in_an_entry_or_a_family() -> None:
    titles = {entry.title for entry in entries()}
    assert set(OPS) <= titles
    assert {id.partition(".")[0] for id in CLAUSES} <= titles
