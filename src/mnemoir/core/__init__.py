"""Values, ids, time, text, errors and the file writer that every room uses. Imports no other room of Mnemoir."""
