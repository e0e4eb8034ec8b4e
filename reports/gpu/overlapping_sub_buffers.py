"""Two overlapping sub-buffers that were filled end the process when they are released; exits with 1 while they do.

Needs pyopencl, and NVIDIA's platform: python overlapping_sub_buffers.py
"""

import subprocess
import sys

PROGRAM = """
import numpy as np
import pyopencl as cl

platform = next(each for each in cl.get_platforms() if "NVIDIA" in each.name)
context = cl.Context(platform.get_devices()[:1])
queue = cl.CommandQueue(context)
whole = cl.Buffer(context, cl.mem_flags.READ_WRITE, 40960)
for size in (20, 4):
    part = whole.get_sub_region(0, size)
    cl.enqueue_fill_buffer(queue, part, np.uint8(0), 0, 4).wait()
    parts = [*parts, part] if size == 4 else [part]
for part in parts:
    part.release()
whole.release()
"""

if __name__ == "__main__":
    ended = subprocess.run([sys.executable, "-c", PROGRAM], timeout=60, check=False)
    print(f"expected: the process ends with 0; observed: it ended with {ended.returncode}")
    sys.exit(int(ended.returncode != 0))
