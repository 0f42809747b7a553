"""Variables, and the texts they are filled into."""
