"""What a vendor's process may do while it is asked about a case."""

from __future__ import annotations

from typing import Final

from tests.faults.fault import Fault, Table

CRASHED, TIMEOUT, PROTOCOL, FINE = "crashed", "timeout", "protocol_error", "passed"

ROWS: Final = (
    *((name, f"is killed by {name}", CRASHED, f"was killed by {name} before answering") for name in (
        "SIGSEGV", "SIGABRT", "SIGKILL", "SIGTERM", "SIGFPE", "SIGILL", "SIGBUS", "SIGPIPE", "SIGHUP", "SIGINT",
    )),
    ("SIGSTOP", "stops itself", TIMEOUT, "no answer within"),
    *((f"exit {code}", f"exits with status {code}", CRASHED, f"exited with status {code} before answering")
      for code in (0, 1, 3, 255)),
    ("raises", "ends with an exception of its own", CRASHED, "exited with status 1 before answering"),
    ("hangs", "never answers", TIMEOUT, "no answer within"),
    ("hangs for good", "never answers and ignores SIGTERM", TIMEOUT, "no answer within"),
    ("spins", "computes for ever", TIMEOUT, "no answer within"),
    ("memory", "takes more memory than it may", CRASHED, "over the limit of 0.50 GiB"),
    ("core limit", "can open no file any more", CRASHED, "before answering"),
    ("child and exit", "leaves a child that holds its pipes, and exits", CRASHED, "exited with status 7"),
    ("child and hang", "starts a child and never answers", TIMEOUT, "no answer within"),
    ("session", "leaves a child in a session of its own, and answers", FINE, ""),
    ("orphan", "leaves a child without a parent in a session of its own, and answers", FINE, ""),
    ("nameless orphan", "leaves an orphan in a session of its own, without any environment, and answers", FINE, ""),
    ("orphans of orphans", "leaves an orphan that leaves another, down to the fifth, and answers", FINE, ""),
    ("many orphans", "leaves fifty orphans that ignore every signal that can be, and answers", FINE, ""),
    ("forks for ever", "leaves an orphan that forks and ends, as its child does, for ever, and answers", FINE, ""),
    ("orphan and exit", "leaves an orphan in a session of its own, and exits", CRASHED, "exited with status 7"),
    ("orphan and SIGSEGV", "leaves an orphan, and is killed by SIGSEGV", CRASHED, "was killed by SIGSEGV"),
    ("kills its supervisor", "kills its supervisor, and waits", CRASHED, "was killed by SIGKILL"),
    ("outlives its supervisor", "kills its supervisor, does not end with it, and waits", CRASHED,
     "was killed by SIGKILL"),
    ("stops its supervisor", "stops its supervisor, and answers", FINE, ""),
    ("stops its supervisor and hangs", "stops its supervisor, and never answers", TIMEOUT, "no answer within"),
    ("tells of another end", "writes another end to every descriptor that may be there, and exits", CRASHED,
     "exited with status 7"),
    ("closes replies", "closes its end of the replies and waits", PROTOCOL, "closed its reply descriptor"),
    ("closes both", "closes both pipes and waits", PROTOCOL, "closed its reply descriptor"),
    ("half a line", "writes half a line and waits", TIMEOUT, "no answer within"),
    ("half a line, then exit", "writes half a line and exits", CRASHED, "exited with status 0"),
    ("endless line", "writes a line without an end", PROTOCOL, "longer than 64 MiB"),
    ("slow line", "writes one byte after the other for ever", TIMEOUT, "no answer within"),
    ("garbage", "writes what is no JSON", PROTOCOL, "breaks the protocol"),
    ("not UTF-8", "writes what is not UTF-8", PROTOCOL, "breaks the protocol"),
    ("empty line", "writes an empty line", PROTOCOL, "breaks the protocol"),
    ("nested", "writes 500,000 brackets", PROTOCOL, "breaks the protocol"),
    ("unknown type", "replies with a type that does not exist", PROTOCOL, "breaks the protocol"),
    ("a list", "replies with a list", PROTOCOL, "breaks the protocol"),
    ("introduces itself again", "introduces itself a second time", PROTOCOL, ""),
    ("a seq that is text", "replies with a number that is text", PROTOCOL, "Expected `int`, got `str`"),
    ("the wrong seq", "replies to a case that was not asked yet", PROTOCOL, "when reply 3 was due"),
    ("an old seq", "replies to a case that it answered before", PROTOCOL, "when reply 3 was due"),
    ("a negative seq", "replies to a case with a negative number", PROTOCOL, ""),
    ("answers twice", "answers twice", FINE, ""),
    ("neither observation nor file", "says that it is done, and nothing else", PROTOCOL, ""),
    ("observation and file", "gives an observation and a file", PROTOCOL, ""),
    ("a file elsewhere", "names a file outside its folder", PROTOCOL, "is not the plain name of a file"),
    ("an absolute file", "names a file by a whole path", PROTOCOL, "is not the plain name of a file"),
    ("a file that is not there", "names a file that is not there", PROTOCOL, ""),
    ("a pipe for a file", "names a pipe as its file", PROTOCOL, ""),
    ("a link for a file", "names a link out of its folder as its file", PROTOCOL, ""),
    ("bits that are no hex", "gives bits that are no hex digits", PROTOCOL, "must be lower-case hex digits"),
    ("too few bits", "gives fewer bits than the shape needs", PROTOCOL, ""),
    ("too many bits", "gives more bits than the shape needs", PROTOCOL, ""),
    ("an odd number of digits", "gives an odd number of hex digits", PROTOCOL, ""),
    ("an unknown dtype", "names a dtype that does not exist", PROTOCOL, "unknown dtype 'float31'"),
    ("a negative extent", "gives a shape with a negative extent", PROTOCOL, ""),
    ("a shape of 2**80 elements", "gives a shape that no memory holds", PROTOCOL, ""),
    ("a hundred axes", "gives a block of a hundred axes", PROTOCOL, ""),
    ("too few blocks", "gives fewer blocks than ranks", PROTOCOL, "has 1 blocks for 2 ranks"),
    ("too many blocks", "gives more blocks than ranks", PROTOCOL, "has 3 blocks for 2 ranks"),
    ("a result that nobody asked for", "gives a result that nobody asked for", PROTOCOL, ""),
    ("a storage that nobody has", "tells of storage that no rank has", PROTOCOL, ""),
    ("an unknown category", "classes its error as something that does not exist", PROTOCOL, ""),
    ("an error without a message", "gives an error without a message", PROTOCOL, ""),
    ("too few errors", "gives errors of some ranks alone", PROTOCOL, ""),
    ("seconds that are no number", "gives NaN as its time", PROTOCOL, ""),
    ("seconds without end", "gives a time that no machine has lived", PROTOCOL, "Expected `float` <="),
    ("seconds below zero", "gives a time below 0", PROTOCOL, "Expected `float` >= 0"),
    ("noise on standard output", "floods standard output", FINE, ""),
    ("noise on standard error", "floods standard error", FINE, ""),
    ("empties its folder", "deletes the files of its folder", FINE, ""),
    ("removes its folder", "removes its folder", FINE, ""),
    ("nests its folder", "makes 3,000 folders in each other in its folder", FINE, ""),
    ("closes its folder", "closes its folder and what is in it to everybody", FINE, ""),
    ("links its folder", "puts a link to another folder in the place of its own", FINE, ""),
    ("fills its folder", "leaves a large file in its folder", FINE, ""),
)  # fmt: skip

WORDS: Final = {
    CRASHED: "`crashed`", TIMEOUT: "`timeout`", PROTOCOL: "`protocol_error`", FINE: "nothing: the answer counts",
}  # fmt: skip

TABLE: Final = Table(
    "While it is asked about a case",
    "The case has the outcome below, the cases before and after it have their own, and the process, its children and "
    "its folder are gone afterwards.",
    tuple(
        Fault(f"The process {done}.", WORDS[outcome] + (f", *{says}*" if says else ""), (how, outcome, says))
        for how, done, outcome, says in ROWS
    ),
)
