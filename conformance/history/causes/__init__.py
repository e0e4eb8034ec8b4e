"""Why a case came out otherwise, found by experiment: what no experiment settles is unexplained, and says so."""
