"""Search: what is meant, what matches, why, and when to say that nothing does."""
