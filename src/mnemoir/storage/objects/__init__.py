"""Object stores: a local directory, memory, and all stores that obstore supports by URL."""
