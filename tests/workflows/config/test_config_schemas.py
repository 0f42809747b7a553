"""JSON Schemas of the files of a config tree."""

import re

import pytest

from mnemoir.workflows.config.endpoint import EndpointDefinition
from mnemoir.workflows.nodes.custom_workflow import CustomWorkflow
from mnemoir.workflows.nodes.standard import Standard
from mnemoir.workflows.nodes.static_response import StaticResponse
from mnemoir.workflows.schemas import schemas

TYPES = {kind.kind.lower(): kind for kind in (Standard, CustomWorkflow, StaticResponse)}


@pytest.fixture(scope="module")
def made():
    return schemas(TYPES)


def test_each_kind_of_file_in_the_tree_has_a_schema(made):
    assert list(made) == [
        "users",
        "endpoints",
        "api-types",
        "presets",
        "prompt-templates",
        "routing",
        "discussion-settings",
        "workflows",
    ]
    assert {schema["$schema"] for schema in made.values()} == {"https://json-schema.org/draft/2020-12/schema"}


def test_properties_go_by_their_keys_in_the_file_with_default_and_description(made):
    assert made["users"]["properties"]["maxCategorizationAttempts"] == {
        "type": ["integer", "null"],
        "default": 1,
        "description": "How often to ask until a category is named.",
    }
    keys = {field.alias or name for name, field in EndpointDefinition.model_fields.items()}
    assert set(made["endpoints"]["properties"]) == keys
    assert made["endpoints"]["required"] == ["endpoint", "apiTypeConfigFileName"]


def test_every_property_is_described(made):
    kinds = ("users", "endpoints", "api-types", "prompt-templates", "discussion-settings")
    described = [made[name] for name in kinds]
    described += [made["workflows"]["$defs"][kind.kind] for kind in TYPES.values()]
    assert [
        key for schema in described for key, inner in schema["properties"].items() if "description" not in inner
    ] == []


def test_unknown_keys_are_allowed_and_null_stands_for_not_given(made):
    assert all(made[name]["additionalProperties"] is True for name in ("users", "endpoints", "prompt-templates"))
    assert {"type": "null"} in made["endpoints"]["properties"]["promptTemplate"]["anyOf"]
    assert made["endpoints"]["properties"]["endpoint"]["type"] == "string"


def test_a_routing_table_gives_each_category_a_workflow(made):
    assert made["routing"]["additionalProperties"] == {"$ref": "#/$defs/Route"}
    assert made["routing"]["$defs"]["Route"]["required"] == ["description", "workflow"]


def test_a_workflow_is_a_list_of_nodes_or_an_object_with_one(made):
    schema = made["workflows"]
    assert schema["type"] == ["array", "object"]
    assert schema["items"] == schema["properties"]["nodes"]["items"] == {"$ref": "#/$defs/node"}


def test_a_node_is_read_by_the_branch_of_its_type_in_any_case(made):
    branches = made["workflows"]["$defs"]["node"]["allOf"]
    chosen = {
        name: [branch["then"]["$ref"] for branch in branches if matches(branch, name)]
        for name in ("standard", "CUSTOMWORKFLOW", "StaticResponse", "Custom")
    }
    assert chosen == {
        "standard": ["#/$defs/Standard"],
        "CUSTOMWORKFLOW": ["#/$defs/CustomWorkflow"],
        "StaticResponse": ["#/$defs/StaticResponse"],
        "Custom": [],
    }


def test_a_node_without_a_type_is_read_as_standard(made):
    branches = made["workflows"]["$defs"]["node"]["allOf"]
    assert [branch["then"]["$ref"] for branch in branches if "required" not in branch["if"]] == ["#/$defs/Standard"]


def test_every_reference_leads_somewhere(made):
    for schema in made.values():
        for reference in references(schema):
            assert reference.removeprefix("#/$defs/") in schema["$defs"]


def matches(branch, name):
    return re.search(branch["if"]["properties"]["type"]["pattern"], name) is not None


def references(schema):
    if isinstance(schema, list):
        return [found for inner in schema for found in references(inner)]
    if not isinstance(schema, dict):
        return []
    own = [schema["$ref"]] if "$ref" in schema else []
    return own + [found for inner in schema.values() for found in references(inner)]
