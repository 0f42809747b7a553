"""The documentation page on node memory agrees with the code."""

import pytest

from mnemoir.workflows.config.memory import NodeMemory, NodeRolePrefix, NodeWindow
from mnemoir.workflows.nodes.standard import StandardProperties
from tests.cli.documented_keys import json_in, keys, page, rows, wrong

PAGE = "node-memory.md"
SHAPES = (NodeMemory, NodeWindow, NodeRolePrefix)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_member_is_documented_with_its_default(shape):
    assert wrong(shape, page(PAGE)) == []


def test_no_unknown_member_is_documented():
    assert set(rows(page(PAGE))) == {key for shape in SHAPES for key in keys(shape)}


def test_the_example_has_the_shape_of_a_node():
    (example,) = json_in(PAGE)
    assert StandardProperties.model_validate(example).memory is not None
