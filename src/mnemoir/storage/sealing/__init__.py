"""Encryption of what is stored: the form of an encrypted cell, the keys of users, and where keys come from."""
