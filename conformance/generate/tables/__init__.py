"""Tables of factors and levels, one a dialect, and what makes a case of a row.

Here: every level that implementations treat apart, as data.
Not here: covering arrays over them (``generate.covering``), and which draws are rows (``generate.deal``).
"""
