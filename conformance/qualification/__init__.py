"""The suite itself, judged: by backends that are broken on purpose and by right ones that look unusual.

No user's run comes here. What the deck is worth for a user is read from ``vectors``.
"""
