"""What every request passes before its route and after it."""
