"""Routing tables: categories in matching order, and the workflow of each."""

from collections.abc import Mapping

from pydantic import ConfigDict, Field, RootModel

from mnemoir.workflows.config.model import ConfigModel, Line


class Route(ConfigModel):
    """The value of one category."""

    description: Line = Field(description="What belongs to it, for the categoriser's prompt.")
    workflow: Line = Field(description="The workflow that answers such a message.")


class RoutingTable(RootModel[Mapping[str, Route]]):
    """The file `Routing/<Name>.json`. The order of its categories is the matching order."""

    model_config = ConfigDict(frozen=True)
