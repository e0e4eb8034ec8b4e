"""One file for each operation: its meaning in NumPy."""
