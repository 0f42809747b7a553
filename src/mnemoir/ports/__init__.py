"""What the rooms above must be given: one Protocol a file, named for the thing it gives."""
