"""The workflow that runs when no config tree is given: recall, respond, remember."""

from importlib.resources import files

import orjson

from mnemoir.workflows.config.workflow import WorkflowDefinition, read_workflow


def default_workflow() -> WorkflowDefinition:
    """Read from the package; a workflow file like any other."""
    text = files("mnemoir.workflows").joinpath("default.json").read_bytes()
    return read_workflow("default", orjson.loads(text))
