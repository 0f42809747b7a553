"""Values, ids, time, text and errors: what every room speaks in. Imports nothing of Mnemoir."""
