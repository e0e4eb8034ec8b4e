"""Questions that a history answers as it is, here and in datasette."""

from __future__ import annotations

from typing import Any, Final, NamedTuple


class Query(NamedTuple):
    """A question, in words and in SQL; its parameters, ``:name``, are asked for."""

    title: str
    sql: str


QUERIES: Final = {
    "conforms": Query(
        "Who conforms today: the last whole run of each backend",
        "SELECT j.backend, j.title, j.must_held, j.must_total, r.started, j.framework FROM judged j JOIN runs r "
        "USING (run) WHERE r.started = (SELECT MAX(q.started) FROM judged k JOIN runs q USING (run) WHERE "
        "k.backend = j.backend AND q.incomplete IS NULL) ORDER BY j.backend",
    ),
    "regressions": Query(
        "What passed in one run and failed in the next of the same plan",
        "SELECT c.name, s.backend, i.outcome, i.clause, r.started AS since, i.detail FROM intervals i JOIN cases c "
        "USING (number) JOIN series s USING (series) JOIN runs r ON r.run = i.first_run WHERE i.outcome NOT IN "
        "('passed', 'unsupported', 'not_run', 'adapter_error', 'flaky') AND EXISTS (SELECT 1 FROM intervals p WHERE "
        "p.number = i.number AND p.series = i.series AND p.outcome = 'passed' AND p.interval != i.interval AND "
        "(SELECT started FROM runs WHERE run = p.last_run) < r.started) ORDER BY r.started DESC LIMIT 1000",
    ),
    "findings": Query(
        "Every way to fail, with the first and the last run that saw it",
        "SELECT * FROM history_of_findings ORDER BY last_seen DESC, backend, op LIMIT 1000",
    ),
    "case": Query(
        "What one case came to, run by run",
        "SELECT * FROM history_of_cases WHERE name = :name ORDER BY backend, plan, first_run",
    ),
    "unstable": Query(
        "Cases that came out otherwise most often",
        "SELECT c.name, s.backend, COUNT(*) AS changes FROM intervals i JOIN cases c USING (number) JOIN series s "
        "USING (series) GROUP BY i.series, i.number HAVING COUNT(*) > 2 ORDER BY changes DESC LIMIT 200",
    ),
    "speed": Query(
        "Microseconds of a backend, an operation and a size beside those of a memory copy in the same run",
        "SELECT r.started, m.size, m.median_us, m.least_us, c.median_us AS copy_us FROM measurements m JOIN runs r "
        "USING (run) LEFT JOIN measurements c ON c.run = m.run AND c.op = m.op AND c.size = m.size AND "
        "c.backend = 'copy' WHERE m.backend = :backend AND m.op = :op ORDER BY m.size, r.started",
    ),
    "runs": Query("The runs", "SELECT * FROM table_of_runs ORDER BY started DESC LIMIT 1000"),
}


def metadata(database: str) -> dict[str, Any]:
    """Return datasette's metadata of a history whose file is named ``database``, without its ending."""
    queries = {name: {"title": query.title, "sql": query.sql} for name, query in QUERIES.items()}
    title = "Mesh Conformance: the history of runs"
    return {"title": title, "databases": {database: {"queries": queries, "allow_facet": False}}}
