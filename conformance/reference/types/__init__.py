"""The checker of types: which type each value of a program has for each mesh axis, or which rule refuses it."""
