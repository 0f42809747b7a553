"""Sets aside what a person is to look at first."""
