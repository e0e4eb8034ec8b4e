"""A program that speaks the protocol by itself, and at the case that begins with 42 does what its argument says."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time

READ, WRITE = int(os.environ["CONFORMANCE_READ"]), int(os.environ["CONFORMANCE_WRITE"])
MARK = sys.argv[-1]
"""What is among the arguments of every process that belongs to the test, for nothing else need be left of one."""

READY = {"type": "ready", "protocol": 1, "name": "harness", "description": {}, "claims": {}}


def say(reply: object) -> None:
    os.write(WRITE, (reply if isinstance(reply, str) else json.dumps(reply)).encode() + b"\n")


def right(request: dict) -> dict:
    blocks = request["case"]["inputs"]["x"]["blocks"]
    return {"type": "done", "seq": request["seq"], "observation": {"results": {"y": [blocks[0]] * len(blocks)}}}


def changed(request: dict, change) -> dict:
    """Return the right reply, after ``change`` of the blocks of its result."""
    reply = json.loads(json.dumps(right(request)))
    change(reply["observation"]["results"]["y"])
    return reply


def error(request: dict, **fields: object) -> dict:
    found = {"kind": "ValueError", "message": "no", "category": "internal", **fields}
    return {"type": "done", "seq": request["seq"], "observation": {"errors": [found, found]}}


def wait() -> None:
    while True:
        time.sleep(3600)


def flood(descriptor: int) -> None:
    for _ in range(200):
        os.write(descriptor, b"\x1b[31mnoise " * 1000)


def child(then: str) -> None:
    program = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(3600)"
    subprocess.Popen([sys.executable, "-c", program, MARK], pass_fds=(READ, WRITE))
    if then == "exit":
        os._exit(7)


def apart(orphan: bool) -> None:
    command = [sys.executable, "-c", "import time; time.sleep(3600)", MARK]
    if not orphan:
        subprocess.Popen(command, start_new_session=True)
    elif os.fork() == 0:
        os.setsid()
        subprocess.Popen(command)
        os._exit(0)


NESTED = """
import os, sys, time
program, deep, mark = sys.argv[1:]
if int(deep) and os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, [sys.executable, "-c", program, program, str(int(deep) - 1), mark], {})
    os._exit(0)
time.sleep(3600)
"""
SLEEPING = "import time; time.sleep(3600)"
FORKING = "import os\nwhile not os.fork() or os._exit(0): pass"


def orphan(program: str, *words: str) -> None:
    """Leave a process without a parent, an environment or descriptors, in a session of its own, that is deaf."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in {*range(1, 32)} - {signal.SIGKILL, signal.SIGSTOP}:
                signal.signal(number, signal.SIG_IGN)
            os.closerange(0, 256)
            os.execve(sys.executable, [sys.executable, "-c", program, *words, MARK], {})
        os._exit(0)
    os.wait()


def misbehave(how: str, request: dict) -> object:
    """Return the reply to the bad case, or do something else."""
    seq = request["seq"]
    if how.startswith("SIG"):
        if how not in {"SIGKILL", "SIGSTOP"}:
            signal.signal(getattr(signal, how), signal.SIG_DFL)
        os.kill(os.getpid(), getattr(signal, how))
        wait()
    if how.startswith("exit "):
        os._exit(int(how.split()[1]))
    match how:
        case "raises":
            raise RuntimeError("of its own")
        case "hangs":
            wait()
        case "hangs for good":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            wait()
        case "spins":
            while True:
                pass
        case "memory":
            kept = []
            while True:
                kept.append(b"\x01" * (32 << 20))
                time.sleep(0.01)
        case "core limit":
            resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
            open("/dev/null")
        case "child and exit":
            child("exit")
        case "child and hang":
            child("hang")
            wait()
        case "session":
            apart(orphan=False)
            return right(request)
        case "orphan":
            apart(orphan=True)
            return right(request)
        case "nameless orphan":
            orphan(SLEEPING)
            return right(request)
        case "orphans of orphans":
            orphan(NESTED, NESTED, "4")
            time.sleep(0.2)
            return right(request)
        case "many orphans":
            for _ in range(50):
                orphan(SLEEPING)
            return right(request)
        case "forks for ever":
            orphan(FORKING)
            return right(request)
        case "orphan and exit":
            orphan(SLEEPING)
            os._exit(7)
        case "orphan and SIGSEGV":
            orphan(SLEEPING)
            os.kill(os.getpid(), signal.SIGSEGV)
        case "kills its supervisor":
            os.kill(os.getppid(), signal.SIGKILL)
            wait()
        case "outlives its supervisor":
            ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)  # PR_SET_PDEATHSIG
            os.kill(os.getppid(), signal.SIGKILL)
            wait()
        case "stops its supervisor":
            os.kill(os.getppid(), signal.SIGSTOP)
            return right(request)
        case "stops its supervisor and hangs":
            os.kill(os.getppid(), signal.SIGSTOP)
            wait()
        case "tells of another end":
            for descriptor in {*range(1024)} - {WRITE}:
                with contextlib.suppress(OSError):
                    os.write(descriptor, b"exit 0\nsignal 9\n")
            os._exit(7)
        case "closes replies":
            os.close(WRITE)
            wait()
        case "closes both":
            os.close(WRITE)
            os.close(READ)
            wait()
        case "half a line":
            os.write(WRITE, b'{"type": "done", ')
            wait()
        case "half a line, then exit":
            os.write(WRITE, b'{"type": "done", ')
            os._exit(0)
        case "endless line":
            while True:
                os.write(WRITE, b"[" * 65536)
        case "slow line":
            while True:
                os.write(WRITE, b" ")
                time.sleep(0.05)
        case "garbage":
            return "\x00\x7fnonsense"
        case "not UTF-8":
            os.write(WRITE, b'{"type":"done","seq":%d,"file":"\xff\xfe"}\n' % seq)
        case "empty line":
            return ""
        case "nested":
            return '{"type": "done", "x": ' + "[" * 500_000
        case "unknown type":
            return {"type": "finished", "seq": seq}
        case "a list":
            return [1, 2, 3]
        case "introduces itself again":
            return READY
        case "a seq that is text":
            return {"type": "done", "seq": "one"}
        case "the wrong seq":
            return {**right(request), "seq": seq + 1}
        case "an old seq":
            return {**right(request), "seq": 1}
        case "a negative seq":
            return {**right(request), "seq": -(2**63)}
        case "answers twice":
            say(right(request))
            return right(request)
        case "neither observation nor file":
            return {"type": "done", "seq": seq}
        case "observation and file":
            return {**right(request), "file": "answer"}
        case "a file elsewhere":
            return {"type": "done", "seq": seq, "file": "../../etc/passwd"}
        case "an absolute file":
            return {"type": "done", "seq": seq, "file": "/etc/passwd"}
        case "a file that is not there":
            return {"type": "done", "seq": seq, "file": "nothing.json"}
        case "a pipe for a file":
            os.mkfifo(os.path.join(os.environ["CONFORMANCE_FILES"], "pipe"))
            return {"type": "done", "seq": seq, "file": "pipe"}
        case "a link for a file":
            os.symlink("/etc/passwd", os.path.join(os.environ["CONFORMANCE_FILES"], "link"))
            return {"type": "done", "seq": seq, "file": "link"}
        case "bits that are no hex":
            return changed(request, lambda blocks: blocks[0].update(bits="0x0x0x0x"))
        case "too few bits":
            return changed(request, lambda blocks: blocks[0].update(bits="00"))
        case "too many bits":
            return changed(request, lambda blocks: blocks[0].update(bits="00" * 5))
        case "an odd number of digits":
            return changed(request, lambda blocks: blocks[0].update(bits="000"))
        case "an unknown dtype":
            return changed(request, lambda blocks: blocks[0].update(dtype="float31"))
        case "a negative extent":
            return changed(request, lambda blocks: blocks[0].update(shape=[-4]))
        case "a shape of 2**80 elements":
            return changed(request, lambda blocks: blocks[0].update(shape=[2**40, 2**40]))
        case "a hundred axes":
            return changed(request, lambda blocks: blocks[0].update(shape=[1] * 100))
        case "too few blocks":
            return changed(request, lambda blocks: blocks.pop())
        case "too many blocks":
            return changed(request, lambda blocks: blocks.append(blocks[0]))
        case "a result that nobody asked for":
            reply = right(request)
            reply["observation"]["results"]["z"] = reply["observation"]["results"]["y"]
            return reply
        case "an unknown category":
            return error(request, category="fatal")
        case "an error without a message":
            return error(request, message=None)
        case "too few errors":
            reply = error(request)
            reply["observation"]["errors"].pop()
            return reply
        case "a storage that nobody has":
            touched = [{"input": "q", "rank": 9, "index": 0, "before": "00", "after": "01"}]
            return {**right(request), "observation": {**right(request)["observation"], "touched": touched}}
        case "seconds that are no number":
            return json.dumps(right(request)).replace('"results"', '"seconds": NaN, "results"')
        case "seconds without end":
            return json.dumps(right(request)).replace('"results"', '"seconds": 1e308, "results"')
        case "seconds below zero":
            return json.dumps(right(request)).replace('"results"', '"seconds": -5, "results"')
        case "noise on standard output":
            flood(1)
            return right(request)
        case "noise on standard error":
            flood(2)
            return right(request)
        case "empties its folder":
            for name in os.listdir(os.environ["CONFORMANCE_FILES"]):
                os.remove(os.path.join(os.environ["CONFORMANCE_FILES"], name))
            return right(request)
        case "removes its folder":
            os.rmdir(os.environ["CONFORMANCE_FILES"])
            return right(request)
        case "nests its folder":
            os.chdir(os.environ["CONFORMANCE_FILES"])
            for _ in range(3000):
                os.mkdir("deeper")
                os.chdir("deeper")
            return right(request)
        case "closes its folder":
            closed = os.path.join(os.environ["CONFORMANCE_FILES"], "closed")
            os.mkdir(closed)
            open(os.path.join(closed, "file"), "w").close()
            os.chmod(closed, 0)
            os.chmod(os.environ["CONFORMANCE_FILES"], 0)
            return right(request)
        case "links its folder":
            os.rmdir(os.environ["CONFORMANCE_FILES"])
            os.symlink("/usr", os.environ["CONFORMANCE_FILES"])
            return right(request)
        case "fills its folder":
            with open(os.path.join(os.environ["CONFORMANCE_FILES"], "litter"), "wb") as file:
                file.truncate(1 << 30)
            return right(request)
        case _:
            raise SystemExit(f"no such way: {how}")
    return None


def main(how: str) -> None:
    with os.fdopen(READ, closefd=False) as source:
        for line in source:
            request = json.loads(line)
            if request["type"] == "hello":
                say(READY)
            elif request["type"] == "stop":
                return
            elif request["case"]["inputs"]["x"]["blocks"][0]["bits"].startswith("42"):
                say(misbehave(how, request))
            else:
                say(right(request))


if __name__ == "__main__":
    main(" ".join(sys.argv[1:-1]))
