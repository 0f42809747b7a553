"""Names that modules share."""
