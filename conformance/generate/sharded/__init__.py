"""Programs on sharded tensors: placements, steps about them, folds, hazards of storage, and misfits.

Here: what grows on a mesh.
Not here: steps of graphs that know no placement (``generate.graphs``).
"""
