"""Backups: folders with copies of a data directory's files, and a list of them with digests.

A backup is `backup.json` beside the folder `data`, which has the paths of the data directory. It is made under
another name and renamed when it is whole and synced, the list last. Nothing in it is
ever changed, as backups share files.
"""
