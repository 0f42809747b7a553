"""Checks of the names in a node: its endpoints and its preset must exist."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mnemoir.workflows.checking.endpoints import api_type_of, not_offered
from mnemoir.workflows.checking.nodes import type_of
from mnemoir.workflows.checking.problem import FilePosition
from mnemoir.workflows.checking.samplers import check_preset_file
from mnemoir.workflows.checking.survey import Survey
from mnemoir.workflows.checking.workflows import NodeAt, is_open
from mnemoir.workflows.config.api_type import ApiType
from mnemoir.workflows.config.endpoint import EndpointDefinition
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.node import ModelProperties


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """The name of a file, and the position that names it."""

    place: FilePosition
    name: str


def check_references(survey: Survey, user: UserTree, node: NodeAt) -> None:
    """Check the endpoints and the preset of a node. Names with variables are skipped: they are known at run time."""
    raw, preset = node.raw, node.raw.get("preset")
    named = Named(place=node.place / "preset", name=preset if isinstance(preset, str) else "")
    for endpoint in _endpoints_of(node):
        check_model(survey, user, endpoint, named)
    kind = type_of(survey, raw)
    asks = kind is not None and issubclass(kind.properties_type, ModelProperties)
    if asks and not raw.get("endpointName") and not raw.get("multiModelList"):
        cause = f"A node of type {raw.get('type') or 'Standard'} asks a model, but names no endpoint."
        survey.report(node.place / "endpointName", cause, "Name a file in Endpoints.")


def check_model(survey: Survey, user: UserTree, endpoint: Named, preset: Named) -> None:
    """Check an endpoint and the preset for it; "" names none."""
    if is_open(endpoint.name):
        return
    survey.endpoints.setdefault((user.name, endpoint.name), set()).add(endpoint.place.file)
    path = survey.locate(endpoint.place, "endpoint", endpoint.name, user.endpoint_folders())
    api_type = api_type_of(survey, path) if path else None
    if api_type is None:
        return
    if cause := not_offered(api_type):
        survey.report(endpoint.place, cause, "Name an endpoint of another type.")
    elif preset.name and not is_open(preset.name):
        _check_preset(survey, user, preset, api_type)


def _endpoints_of(node: NodeAt) -> Iterator[Named]:
    yield from _named(node.place, node.raw)
    listed = node.raw.get("multiModelList")
    for index, item in enumerate(listed if isinstance(listed, list) else []):
        if isinstance(item, dict):
            yield from _named(node.place / "multiModelList" / index, item)


def _named(place: FilePosition, raw: Mapping[str, Any]) -> Iterator[Named]:
    name = raw.get("endpointName")
    if isinstance(name, str) and name:
        yield Named(place=place / "endpointName", name=name)


def _check_preset(survey: Survey, user: UserTree, preset: Named, api_type: ApiType) -> None:
    """Check the name of a preset: an endpoint with samplers, else a preset file."""
    if not survey.allows(preset.place, preset.name):
        return
    lender = survey.tree.find("preset", preset.name, user.endpoint_folders())
    endpoint = survey.shaped(lender.path, EndpointDefinition) if lender else None
    if lender and endpoint is None:
        return
    if endpoint is None or endpoint.samplers is None:
        absent = user.absent_preset(preset.name, user.preset_folders(api_type))
        check_preset_file(survey, user, preset.place, preset.name, api_type, absent)
    elif endpoint.samplers and not api_type.sampler_names:
        cause = f"The samplers of {preset.name} are not sent: the API type of the endpoint asked names none of them."
        survey.report(preset.place, cause, "Add samplerFieldMap to the API type.", "warning")
