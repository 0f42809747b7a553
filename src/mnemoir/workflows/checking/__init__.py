"""Checks of a config tree, which find all its problems at once, before a workflow runs."""

from mnemoir.workflows.checking.check import check, check_with_hints
from mnemoir.workflows.checking.edits import Edit, check_edit
from mnemoir.workflows.checking.survey import Hint, Outside, Problem

__all__ = ["Edit", "Hint", "Outside", "Problem", "check", "check_edit", "check_with_hints"]
