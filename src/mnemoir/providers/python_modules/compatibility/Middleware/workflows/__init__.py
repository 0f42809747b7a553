"""The tools of workflows that modules import from."""
