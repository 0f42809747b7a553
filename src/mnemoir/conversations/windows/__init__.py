"""Windows of messages that fit a model's context: token counters, budgets, fitting and strategies."""
