"""Where a run took place and which specification it ran, so that two runs can be compared."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from functools import cache
from importlib.metadata import version
from pathlib import Path

import conformance
from conformance import backends, cases, judging, reference, specs
from conformance.runner.log.sources import digest_of


def environment() -> dict[str, str]:
    """Return the suite, Python, the libraries that draw and compute, the system and the processor."""
    return {
        "mesh-conformance": conformance.__version__,
        "specification version": conformance.SPECIFICATION_VERSION,
        "python": platform.python_version(),
        **_versions(),
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processor": _processor(),
        "adapters": digest_of(backends)[:16],  # tells their change from a framework's
        **_commit(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
    }


def digests() -> tuple[str, str]:
    """Return the SHA-256 of the sources of the specification (with cases and judging) and of the reference."""
    return digest_of(cases, judging, specs), digest_of(reference)


@cache
def _versions() -> dict[str, str]:
    """Return those of the libraries: of each a file is read."""
    return {name: version(name) for name in ("numpy", "ml_dtypes", "hypothesis", "msgspec")}


@cache
def _commit() -> dict[str, str]:
    """Return the commit of the sources, where they lie in a checkout of ours; those of a wheel have their digests."""
    folder = Path(str(conformance.__file__)).parent
    git = shutil.which("git")
    if git is None:
        return {}
    try:
        # Of a wheel in some other checkout no file is tracked.
        for words in (("ls-files", "--error-unmatch", "__init__.py"), ("rev-parse", "HEAD")):
            done = subprocess.run(
                (git, "-C", str(folder), *words), capture_output=True, timeout=5, check=True, text=True
            )
    except (OSError, subprocess.SubprocessError):
        return {}
    return {"commit": done.stdout.strip()}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
