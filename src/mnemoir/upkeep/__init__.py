"""The care of stored data: backups, encryption, retention, and the data of one person."""
