"""What adapters have in common that read kernels of compilers: the lines of a body, and which node a write finishes.

Here: a body's instructions and its lines, and which node a write finishes.
Not here: the readers of one compiler (``backends.jax.hlo``, ``backends.torch.inductor``).
"""
