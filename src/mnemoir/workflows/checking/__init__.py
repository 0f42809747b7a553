"""Checking a config tree: everything that is wrong with it, at once and before anything runs."""

from mnemoir.workflows.checking.check import check, check_with_hints
from mnemoir.workflows.checking.problem import Hint, Problem
from mnemoir.workflows.checking.survey import Outside

__all__ = ["Hint", "Outside", "Problem", "check", "check_with_hints"]
