"""Where things are kept: one folder a backend, all behind the ports."""
