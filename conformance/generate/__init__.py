"""Where cases come from.

Here: choices, the deal of kinds of draws, covering arrays over tables, small calls, and what each dialect grows from.
Not here: what must hold (``specs``), what a case shows and the deck (``vectors``), and who draws how many (``runner``).
"""
