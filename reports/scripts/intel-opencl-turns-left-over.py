"""Intel's CPU runtime for OpenCL ends the process that builds a loop of nine turns around one of sixteen with a call.

Needs pyopencl, intel-opencl-rt and intel-cmplr-lib-rt. Exit status: 1 while this is so, 0 when it is not, 2 when
Intel's platform is not there. A CPU with AVX2 and without AVX-512 shows it.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
from importlib.metadata import files
from pathlib import Path

NEEDED = [
    *(("intel-cmplr-lib-rt", name) for name in ("libintlc.so.5", "libirng.so", "libimf.so", "libsvml.so")),
    ("tbb", "libtbb.so.12"),
    ("intel-opencl-rt", "libintelocl.so"),
]
KERNEL = """
__kernel void sum(__global const float* from, __global float* to) {
  float lanes[16], all = 0;
  for (int u = 0; u < 16; ++u) lanes[u] = 0;
  for (int base = 0; base < TURNS * 16; base += 16)
    for (int u = 0; u < 16; ++u) lanes[u] = lanes[u] + fabs(from[base + u]);
  for (int u = 0; u < 16; ++u) all = all + lanes[u];
  to[0] = all;
}
"""


def build(turns):
    """Build the kernel in this process."""
    paths = [next(file.locate() for file in files(of) if file.name == name) for of, name in NEEDED]
    for path in paths[:-1]:
        ctypes.CDLL(str(path))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "intel.icd").write_text(str(Path(str(paths[-1])).resolve()))
        os.environ["OCL_ICD_VENDORS"] = folder
        import pyopencl as cl

        found = [platform for platform in cl.get_platforms() if platform.name == "Intel(R) OpenCL"]
    if not found:
        sys.exit(2)
    cl.Program(cl.Context(found[0].get_devices()), KERNEL).build(options=[f"-DTURNS={turns}"], cache_dir=False)


if len(sys.argv) > 1:
    build(int(sys.argv[1]))
    sys.exit(0)
ended = {
    turns: subprocess.run([sys.executable, __file__, str(turns)], capture_output=True).returncode for turns in (8, 9)
}
for turns, status in ended.items():
    print(f"{turns} turns: the process that builds ended with {status}")
sys.exit(2 if ended[8] else int(ended[9] < 0))
