"""What a judged process can reach of the runner, of other backends and of the machine, in a sandbox and not."""

from __future__ import annotations

from typing import Final

from tests.faults.fault import Fault, Table

REFUSED, POSSIBLE, DEPENDS = "refused", "possible", "possible, unless the kernel forbids it"
"""``DEPENDS``: a kernel may let only parents attach to their children (``kernel.yama.ptrace_scope``)."""

ROWS: Final = (
    ("descriptors", "open what the runner has open", REFUSED, REFUSED),
    ("memory", "read and write the memory of the runner", REFUSED, REFUSED),
    ("environment", "read the environment that the runner was started with", REFUSED, REFUSED),
    ("attach", "attach to the runner as a debugger does", REFUSED, REFUSED),
    ("taken descriptor", "take a descriptor of the runner", REFUSED, REFUSED),
    ("supervisor", "read and write the memory of its supervisor, or open what that has open", REFUSED, REFUSED),
    ("capabilities", "use the privileges of the user root, where the run is root's", REFUSED, REFUSED),
    ("set-user-ID", "gain privileges by a program that has them (`sudo`)", REFUSED, REFUSED),
    ("signal the runner", "end or stop the runner by a signal: a run without an end, not one that is green", POSSIBLE,
     REFUSED),
    ("limits", "lower what the runner may take of files, time and memory (`prlimit`): it ends, and says nothing green",
     POSSIBLE, REFUSED),
    ("signal another", "end or stop another backend's process, whose cases are lost then", POSSIBLE, REFUSED),
    ("memory of another", "read and write the memory of another backend's process, and so change what it answers",
     DEPENDS, REFUSED),
    ("folder of another", "read and change the files that another backend's cases and answers travel in", POSSIBLE,
     REFUSED),
    ("write a file", "change a file of the user: cases and log of the run, this package, other backends", POSSIBLE,
     REFUSED),
    ("service", "ask a service of this machine to start a process, which belongs to no backend (`systemd-run`, `at`)",
     POSSIBLE, REFUSED),
    ("network", "connect to other machines, and to ports of this one", POSSIBLE, REFUSED),
    ("terminal", "write to a terminal of the user", POSSIBLE, REFUSED),
    ("read a file", "read a file of the user", POSSIBLE, POSSIBLE),
    ("reference", "compute its answers by the reference that is installed beside it", POSSIBLE, POSSIBLE),
    ("processor", "take the time of the processors from others", POSSIBLE, POSSIBLE),
)  # fmt: skip

TABLE: Final = Table(
    "What a judged process can reach",
    "A worker is a process of the same user as the runner. Without a sandbox that alone lets it do what is possible in "
    "the second column; `conformance run --sandbox` (bubblewrap on Linux; `conformance doctor` says whether it works) "
    "leaves what is possible in the third: processes, network and temporary files are the worker's own, its folder and "
    "a cache of its own can be written, and every other file can only be read. Nothing else is promised: neither way "
    "keeps out what a fault of the kernel or of bubblewrap lets in, and with `--in-process` or in pytest's process "
    "nothing is refused.",
    tuple(Fault(done[0].upper() + done[1:], f"{without} | {within}", (key, without, within))
          for key, done, without, within in ROWS),
    ("what is tried", "without a sandbox", "with `--sandbox`"),
)  # fmt: skip
