"""The page about the settings file of discussions agrees with the code: every key, its default, valid examples."""

import json
import re

import pytest

from mnemoir.memory.discussions.records import EXTRACTION_SYSTEM_PROMPT
from mnemoir.workflows.config.memory import DiscussionSettings
from mnemoir.workflows.memory_prompts import ALL, CHUNK, RECENT, SUMMARY
from mnemoir.workflows.starter import StarterServer, starter_files
from tests.cli.documented_keys import json_in, keys, page, rows, wrong

PAGE = "discussion-settings.md"
TREE = starter_files(StarterServer())
WITHOUT_EFFECT = {
    field.alias for field in DiscussionSettings.model_fields.values() if field.description == "No effect."
}


def test_every_key_with_an_effect_has_a_row_with_its_default():
    assert [key for key in wrong(DiscussionSettings, page(PAGE)) if key not in WITHOUT_EFFECT] == []


def test_keys_without_effect_are_named_as_such():
    (told,) = re.findall(r"These keys of WilmerAI's files have no effect: (.*?)\n\n", page(PAGE), re.DOTALL)
    assert set(re.findall(r"`(\w+)`", told)) == WITHOUT_EFFECT


def test_the_page_names_no_unknown_key():
    assert set(rows(page(PAGE))) - set(keys(DiscussionSettings)) == set()


def test_every_placeholder_is_documented():
    assert [mark for mark in (CHUNK, RECENT, ALL, SUMMARY) if f"| `{mark}` |" not in page(PAGE)] == []


def test_the_record_on_the_page_has_what_the_built_in_prompt_asks_for():
    records, _ = json_in(PAGE)
    needed = ("title", "summary", "entities", "key_phrases")
    assert [set(record) for record in records] == [set(needed)]
    assert [key for key in needed if key not in EXTRACTION_SYSTEM_PROMPT] == []


def test_the_example_has_the_shape_of_the_file_and_no_unknown_key():
    example = json_in(PAGE)[-1]
    assert DiscussionSettings.model_validate(example).model_extra == {}
    assert CHUNK in example["prompt"]


@pytest.mark.parametrize("user", ["discussion-search", "discussion-summary"])
def test_the_files_of_the_starter_tree_hold_only_documented_keys(user):
    held = json.loads(TREE[f"Configs/Workflows/{user}/Memory-Settings.json"])
    assert set(held) - set(rows(page(PAGE))) == {"displayOnlyComment"}
