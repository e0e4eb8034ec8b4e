"""What XLA makes of a jitted graph, read from its own messages: instructions, their order, and where buffers lie.

Here: XLA's messages decoded, bodies of fusions, and the schedule of a graph on a CPU.
Not here: programs for TPUs (``backends.jax.tpu``), and facts of what is lowered (``stablehlo_facts``, ``hlo_facts``).
"""
