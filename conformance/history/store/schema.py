"""The tables of a history, their indexes, and views that say what people ask."""

from __future__ import annotations

from typing import Final

APPLICATION: Final = 0x4D436F6E
"""SQLite's ``application_id`` of a history: "MCon"."""

VERSION: Final = 1
"""The form of the tables: SQLite's ``user_version``."""

# No index has ``last_run``: a run makes nearly all intervals of its series longer, and would write each of them in it
# again.
TABLES: Final = """
CREATE TABLE runs (
  run INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, folder TEXT NOT NULL, started TEXT NOT NULL, finished TEXT,
  specification TEXT NOT NULL, reference TEXT NOT NULL, suites TEXT NOT NULL, operations TEXT NOT NULL,
  seed INTEGER NOT NULL, profile TEXT NOT NULL, examples INTEGER NOT NULL, incomplete TEXT, machine TEXT NOT NULL,
  environment TEXT NOT NULL, log TEXT NOT NULL
);
CREATE TABLE judged (
  run INTEGER NOT NULL REFERENCES runs, backend TEXT NOT NULL, verdict TEXT NOT NULL, title TEXT NOT NULL,
  must_held INTEGER, must_total INTEGER, framework TEXT NOT NULL, driver TEXT NOT NULL, description TEXT NOT NULL,
  claims TEXT NOT NULL, declared TEXT NOT NULL, seconds REAL NOT NULL, PRIMARY KEY (run, backend)
) WITHOUT ROWID;
CREATE TABLE cells (
  run INTEGER NOT NULL REFERENCES runs, backend TEXT NOT NULL, op TEXT NOT NULL, passed INTEGER NOT NULL,
  must INTEGER NOT NULL, should INTEGER NOT NULL, known INTEGER NOT NULL, unsupported INTEGER NOT NULL,
  owed INTEGER NOT NULL, seconds REAL NOT NULL, PRIMARY KEY (run, backend, op)
) WITHOUT ROWID;
CREATE TABLE findings (
  run INTEGER NOT NULL REFERENCES runs, backend TEXT NOT NULL, op TEXT NOT NULL, clause TEXT NOT NULL,
  outcome TEXT NOT NULL, requirement TEXT NOT NULL, name TEXT NOT NULL, file TEXT NOT NULL, detail TEXT NOT NULL,
  minimal INTEGER NOT NULL, cases INTEGER NOT NULL, known INTEGER NOT NULL
);
CREATE TABLE cases (
  number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, op TEXT NOT NULL, suite TEXT NOT NULL, dtype TEXT NOT NULL,
  world INTEGER NOT NULL, origin TEXT
);
CREATE TABLE series (series INTEGER PRIMARY KEY, backend TEXT NOT NULL, plan TEXT NOT NULL, UNIQUE (backend, plan));
CREATE TABLE members (
  series INTEGER NOT NULL REFERENCES series, run INTEGER NOT NULL REFERENCES runs, PRIMARY KEY (series, run)
) WITHOUT ROWID;
CREATE TABLE intervals (
  interval INTEGER PRIMARY KEY, series INTEGER NOT NULL REFERENCES series, number INTEGER NOT NULL REFERENCES cases,
  outcome TEXT NOT NULL, clause TEXT, requirement TEXT, expected TEXT, detail TEXT,
  first_run INTEGER NOT NULL REFERENCES runs, last_run INTEGER NOT NULL REFERENCES runs
);
CREATE TABLE texts (name TEXT NOT NULL, kind TEXT NOT NULL, backend TEXT NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY (name, kind, backend)) WITHOUT ROWID;
CREATE TABLE measurements (
  run INTEGER NOT NULL REFERENCES runs, backend TEXT NOT NULL, op TEXT NOT NULL, size INTEGER NOT NULL,
  ranks INTEGER NOT NULL, median_us REAL NOT NULL, least_us REAL NOT NULL,
  PRIMARY KEY (run, backend, op, size, ranks)
) WITHOUT ROWID;
CREATE INDEX runs_started ON runs (started, id);
CREATE INDEX judged_backend ON judged (backend, run);
CREATE INDEX cells_backend ON cells (backend, op, run);
CREATE INDEX findings_way ON findings (backend, op, clause, outcome);
CREATE INDEX findings_run ON findings (run);
CREATE INDEX cases_op ON cases (op);
CREATE INDEX intervals_first ON intervals (series, first_run);
CREATE INDEX intervals_number ON intervals (number);
CREATE INDEX measurements_backend ON measurements (backend, op, size);
"""

VIEWS: Final = """
CREATE VIEW table_of_runs AS SELECT r.id, r.started, j.backend, j.verdict, r.specification, r.reference, r.suites,
  j.framework, j.driver, r.seed, j.claims, r.machine, r.incomplete FROM judged j JOIN runs r USING (run);
CREATE VIEW history_of_cases AS SELECT c.name, c.op, s.backend, i.outcome, i.clause, i.expected, i.detail,
  f.started AS first_run, l.started AS last_run, s.plan FROM intervals i JOIN cases c USING (number)
  JOIN series s USING (series) JOIN runs f ON f.run = i.first_run JOIN runs l ON l.run = i.last_run;
CREATE VIEW history_of_findings AS SELECT f.backend, f.op, f.clause, f.outcome, f.requirement, MIN(r.started) AS
  first_seen, MAX(r.started) AS last_seen, COUNT(DISTINCT f.run) AS runs FROM findings f JOIN runs r USING (run)
  GROUP BY f.backend, f.op, f.clause, f.outcome, f.requirement;
"""
