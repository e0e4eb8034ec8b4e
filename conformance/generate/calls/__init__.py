"""One call: meshes, groups, shapes, dtypes, layouts and data, and what is barely illegal about an attribute.

Here: what the domains of all operations draw from.
Not here: which of it an operation draws (``generate.operations``), and programs of steps (``generate.programs``).
"""
