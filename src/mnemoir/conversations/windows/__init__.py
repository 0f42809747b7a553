"""What fits a model's context: token counters, budgets, windows and strategies over messages."""
