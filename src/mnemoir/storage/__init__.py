"""Storage backends, one folder each, all behind the ports."""
