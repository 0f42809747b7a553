"""Checking a config tree: everything that is wrong with it, at once and before anything runs."""

from mnemoir.workflows.checking.check import check
from mnemoir.workflows.checking.problem import Problem

__all__ = ["Problem", "check"]
