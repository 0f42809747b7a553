"""Links of names: statements of one user that mention the same names, and the way from a question along them."""
