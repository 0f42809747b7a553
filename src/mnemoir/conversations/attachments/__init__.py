"""Files sent with messages: storage of their bytes and links to them in messages."""
