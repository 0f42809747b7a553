"""Variables, and filling them into the texts of nodes."""
