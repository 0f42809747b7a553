"""What is made of a model's answer before anyone sees it."""
