"""Smaller cases: what the search for the smallest one tries, for each dialect."""
