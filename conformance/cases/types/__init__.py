"""The dialect ``types``: programs whose values have a type for each mesh axis.

What types its values have is in ``reference.types``.
"""
