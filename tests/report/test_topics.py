"""The table of topics, in every form of the report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.report import ClauseText, read_run, summarise
from conformance.report.counts.topics import Topic
from conformance.report.formats.html import as_html
from conformance.report.formats.json import as_json, parse_json
from conformance.report.formats.markdown import as_markdown
from conformance.runner.dialects import further_clauses
from conformance.runner.records.record import BackendEntry
from conformance.specification.case_topics.sharded import TOPICS as OF_SHARDED
from conformance.specification.case_topics.types import TOPICS as OF_TYPES
from conformance.specs import OPS, SHARED
from tests.report.conftest import unfolded

TOPIC = Topic(id="X9", text="Moves.", clauses=("a.C1", "a.C2"), steps=("permute",))


def test_a_case_counts_by_its_worst_clause_and_its_steps(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    cases = (
        record("types+permute/int32-2/1", clauses={"a.C1": "held", "a.C2": "broken"}),
        record("types+permute+cast/int32-2/2", clauses={"a.C2": "held"}),
        record("types+permute/int32-2/3", clauses={"a.C2": "diverges", "a.C1": "held"}),
        record("types+cast/int32-2/4", clauses={"a.C1": "broken"}),
    )
    report = summarise([read_run(tiny(*cases))], specification, topics=(TOPIC,))
    (one,) = report.treated
    assert (one.topic, one.held, one.broken, one.diverges) == ("X9", 1, 1, 1)
    assert parse_json(as_json(report).encode()).treated == report.treated
    assert "| X9 | Moves. | 1 wrong, 1 as its source has it, 1 right |" in as_markdown(report)
    assert "1 wrong, 1 as its source has it, 1 right" in unfolded(as_html(report))


def test_a_report_without_such_cases_is_silent(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    report = summarise([read_run(tiny(record("a")))], specification, topics=(TOPIC,))
    assert "topic by topic" not in as_html(report)
    assert "## Topics" not in as_markdown(report)


def test_the_topics_name_clauses_that_there_are() -> None:
    own = {clause.id if "." in clause.id else f"{op.name}.{clause.id}" for op in OPS.values() for clause in op.clauses}
    known = own | {clause.id for clause in (*SHARED, *further_clauses().values())}
    topics = (*OF_SHARDED, *OF_TYPES)
    assert [clause for topic in topics for clause in topic.clauses if clause not in known] == []
    assert len({topic.id for topic in topics}) == 15 + 26


def test_a_case_that_one_backend_is_judged_by_is_told_of_others_too(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    right = (record(name, backend="one", clauses={"a.C1": "held"}) for name in ("permute/1", "permute/2", "permute/3"))
    left = record("permute/1", backend="two", outcome="unsupported", clauses={})
    ended = record("permute/2", backend="two", outcome="crashed", clauses={"a.C1": "broken"})
    about_others = record("permute/4", backend="two", outcome="unsupported", clauses={})
    both = tuple(BackendEntry(name=name, description={}, claims={"permute": {}}) for name in ("one", "two"))
    run = read_run(tiny(*right, left, ended, about_others, backends=both))
    report = summarise([run], specification, topics=(TOPIC,))
    assert [(each.held, each.unanswered, each.left_out) for each in report.treated] == [(3, 0, 0), (0, 1, 1)]


def test_what_does_not_keep_a_free_topic_is_right_in_another_way(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    free = Topic(id="S15", text="The ring.", clauses=("a.C1",), free=True)
    report = summarise([read_run(tiny(record("a", clauses={"a.C1": "broken"})))], specification, topics=(free,))
    assert [(each.broken, each.other, each.words) for each in report.treated] == [(0, 1, "1 right in another way")]
