"""What adapters have in common that read kernels of compilers: the lines of a body, and which node a write finishes."""
