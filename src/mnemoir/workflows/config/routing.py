"""Routing tables: categories in the order they are matched, and the workflow of each."""

from collections.abc import Mapping

from pydantic import ConfigDict, Field, RootModel

from mnemoir.workflows.config.model import ConfigModel, Line


class Route(ConfigModel):
    """One category."""

    description: Line = Field(description="What belongs to it, for the categoriser's prompt.")
    workflow: Line = Field(description="The workflow that answers such a message.")


class RoutingTable(RootModel[Mapping[str, Route]]):
    """`Routing/<Name>.json`. The order of the file counts."""

    model_config = ConfigDict(frozen=True)
