"""One call: meshes, groups, shapes, dtypes, layouts and data, and what is barely illegal about an attribute.

Here: how each attribute is drawn, whichever operation has it, and what else the domains of all operations draw from.
Not here: attributes that one operation alone has (``generate.operations``), and programs (``generate.programs``).
"""
