"""How the deck is made: candidates, what each of them shows and kills, the choice, and what it is worth."""
