"""From a history to the folder of a site."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from conformance.history.error import HistoryError
from conformance.history.no_collections import no_collections
from conformance.history.site.data import data_files, script
from conformance.history.site.endpoints import badges, endpoints
from conformance.history.site.overview import overview
from conformance.history.site.pages import page
from conformance.history.site.publishing import published
from conformance.history.site.trends import trends
from conformance.history.store.queries import metadata


def make(connection: sqlite3.Connection, folder: Path, generated: str, *, database: bool = False) -> Path:
    """Publish the site of a history in ``folder``, and return its page.

    With ``database`` the history lies beside the pages, with its queries as datasette takes them. Raise
    ``HistoryError`` for a history without a run, and for a folder that is no site.
    """
    made = overview(connection)
    if not made.runs:
        raise HistoryError("the history has no run; `conformance history add RUN` adds one")
    told = trends(connection, made)
    with published(folder) as fresh:
        _write(fresh / "index.html", page(made, told, generated))
        with no_collections():
            for name, value in data_files(connection, made, told):
                _write(fresh / "data" / f"{name}.js", script(name, value))
        for name, value in endpoints(made, told):
            _write(fresh / "api" / f"{name}.json", json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")
        for name, picture in badges(made):
            _write(fresh / "badges" / f"{name}.svg", picture)
        if database:
            with sqlite3.connect(fresh / "history.sqlite") as copy:
                connection.backup(copy)
            copy.close()
            _write(fresh / "metadata.json", json.dumps(metadata("history")) + "\n")
    return folder / "index.html"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
