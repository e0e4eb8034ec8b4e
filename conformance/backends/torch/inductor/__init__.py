"""What Inductor makes of a graph, read from its scheduler and its wrapper: kernels, buffers and their order."""
