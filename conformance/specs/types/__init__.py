"""Types of mesh axes: what must hold of programs whose values have one for each axis, and of their transposes.

Which type a value has is asked of ``reference.types``; typed programs are drawn in ``generate.types``.
"""
