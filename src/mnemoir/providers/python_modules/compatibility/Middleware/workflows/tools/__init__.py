"""What modules import from the loader of modules, and from the client of tool servers."""
