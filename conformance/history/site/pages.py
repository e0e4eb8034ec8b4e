"""The page of a site: what is seen first is in it, and everything else it loads when it is asked for."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Final
from urllib.parse import quote

from jinja2 import ChoiceLoader, Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from conformance.cases.escapes import printable
from conformance.history.site.overview import Overview
from conformance.history.site.trends import Trend
from conformance.report.counts.tally import STATES
from conformance.report.formats.badge import file_stems
from conformance.report.formats.html import EARLY
from conformance.report.formats.words import VERDICT_GLYPHS, WORDS

SHARED: Final = ("query.js", "nodes.js", "panel.js", "keys.js", "theme.js", "address.js")
"""Scripts that the page of one report is made of, too."""

OWN: Final = ("loading.js", "strips.js", "cases.js", "trends.js", "site.js")

SHOWN: Final = 60
"""Findings that are there when the page opens; the others come with a button."""

STRIP: Final = 40
"""Runs that the strip of a backend shows."""


def page(made: Overview, told: list[Trend], generated: str) -> str:
    """Return the page, of a site that was ``generated`` at a time."""
    style = _report("page.css") + _site("site.css")
    body = "\n".join([*map(_report, SHARED), *map(_site, OWN)])
    data = {
        "backends": list(made.today),
        "stems": file_stems(list(made.today)),
        "runs": [[one.started, one.folder, one.id] for one in made.runs],
        "words": WORDS,
        "ops": made.ops,
    }
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src 'self' file: {_hash(EARLY)} {_hash(body)}; "
        "img-src 'self' data: file:; base-uri 'none'; form-action 'none'"
    )
    return (
        _environment()
        .get_template("site.html.j2")
        .render(
            made=made,
            told=told,
            generated=generated,
            policy=policy,
            style=Markup(style),  # noqa: S704 - our own file, and its hash is in the policy
            early=Markup(EARLY),  # noqa: S704 - our own script
            script=Markup(body),  # noqa: S704 - our own script
            data=Markup(text),  # noqa: S704 - no "<" is in it
            stems=dict(zip(made.today, file_stems(list(made.today)), strict=True)),
            words=WORDS,
            states=STATES,
            glyphs=VERDICT_GLYPHS,
            shown=SHOWN,
            strip=STRIP,
        )
    )


def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        finalize=_harmless,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=ChoiceLoader([FunctionLoader(_site)]),
    )
    environment.filters["part"] = lambda text: quote(str(text), safe="")
    environment.filters["day"] = lambda text: str(text)[:10]
    return environment


def _harmless(value: object) -> object:
    """Return what the page shows of a value: control and bidirectional characters of texts are escapes."""
    plain = isinstance(value, str) and not isinstance(value, Markup)
    return "\n".join(map(printable, str(value).split("\n"))) if plain else value


@cache
def _report(name: str) -> str:
    return files("conformance.report").joinpath("page", name).read_text(encoding="utf-8")


@cache
def _site(name: str) -> str:
    return files("conformance.history").joinpath("site", "page", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
