"""Personal data in texts: finding it, and replacing it by placeholders that can be turned back."""
