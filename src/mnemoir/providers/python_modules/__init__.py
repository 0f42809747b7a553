"""Running the Python modules of workflows: which files may run, in what process, and what comes back."""
