"""Real conversations, replayed through Clew and through others: what `isolation.py` and `compaction.py` measure on."""
