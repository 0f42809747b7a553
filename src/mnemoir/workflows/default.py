"""The built-in workflow, which runs without a config tree: recall, respond, remember."""

from importlib.resources import files

import orjson

from mnemoir.workflows.config.workflow import WorkflowDefinition, read_workflow


def default_workflow() -> WorkflowDefinition:
    """The built-in workflow, read from a workflow file in the package."""
    text = files("mnemoir.workflows").joinpath("default.json").read_bytes()
    return read_workflow("default", orjson.loads(text))
