"""Files of discussions: chunk ledgers, rolling summaries, databases of records, times, and the lock for writing."""
