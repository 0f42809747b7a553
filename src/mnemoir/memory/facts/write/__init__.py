"""Changes memories: adds, edits, undoes and expires them."""
