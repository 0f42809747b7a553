"""Takes statements out of what was said."""
