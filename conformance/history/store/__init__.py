"""The history of many runs in one SQLite file, which run logs alone make again."""
