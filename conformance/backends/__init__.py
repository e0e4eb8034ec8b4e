"""Who is judged: the protocol, and one folder for each implementation.

An adapter hands cases to its framework and brings answers back. What is right it does not know: no module here but
``reference`` asks the oracle, and none works around a failure of what it adapts.
"""
