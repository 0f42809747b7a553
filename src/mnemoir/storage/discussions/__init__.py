"""Files of discussions: chunk ledgers, rolling summaries, databases of records, times, and who may write them."""
