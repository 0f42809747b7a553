"""Names in statements of the user's memory, and in questions about them."""
