"""Graph cases: steps and rewrites on a head, data, movement that leaves its source, motifs, and rows side by side.

Here: what is asked for in rounds.
Not here: graphs that are scheduled (``generate.schedules``), and the table of graphs (``generate.tables``).
"""
