"""Checking a config tree: everything that is wrong with it, at once and before anything runs."""

from mnemoir.workflows.checking.check import check, check_with_hints
from mnemoir.workflows.checking.problem import Hint, Problem

__all__ = ["Hint", "Problem", "check", "check_with_hints"]
