"""Identity providers: whose tokens count as credentials, and with whom people sign in to the page."""
