"""Execution of the Python modules of workflows: the allowed files, the child process, and the result."""
