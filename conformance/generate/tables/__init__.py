"""One table of factors and levels a dialect."""
