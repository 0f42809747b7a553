"""Reading the configuration, and failing in the format's way."""
