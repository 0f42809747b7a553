"""Values, ids, time, text, errors and the one writer of files: what every room uses. Imports nothing of Mnemoir."""
