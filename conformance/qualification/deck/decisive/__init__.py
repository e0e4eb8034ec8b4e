"""Cases enumerated for pairs that draws seldom make: each operation and reduction on each dtype that it takes.

Their values decide: every two classes of values meet, so that another operation, another sign or another rounding
gives another result. Nothing here is drawn; the deck is made of it.
"""
