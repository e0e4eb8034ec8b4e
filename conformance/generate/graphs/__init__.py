"""Graph cases: steps and rewrites on a head, data, movement that leaves its source, motifs, and rows side by side.

Here: what is asked for in rounds, and graphs that are scheduled, which grow by the same steps.
Not here: what steps mean (``reference.graph``), and the table of graphs (``generate.tables``).
"""
