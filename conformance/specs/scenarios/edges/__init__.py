"""Programs where implementations of collectives break, listed with the data in which that shows."""
