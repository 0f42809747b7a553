"""For files with any content, the check ends with a list of problems, and a run with a MnemoirError."""

import tempfile
from contextlib import suppress
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.checking import check
from mnemoir.workflows.node import node_types
from tests.workflows.config.config_kit import SMALL, tree_of

WORDS = st.sampled_from(
    [
        "Standard",
        "CustomWorkflow",
        "ConditionalCustomWorkflow",
        "SlowButQualityRAG",
        "FullChatSummary",
        "Chat",
        "Mine",
        "Main",
        "",
        "{x}",
        "a/b",
        "{",
    ]
)
KEYS = st.sampled_from(
    [
        "type",
        "nodes",
        "workflowName",
        "conditionalWorkflows",
        "scoped_variables",
        "multiModelList",
        "endpointName",
        "preset",
        "prompt",
        "endpoint",
        "apiTypeConfigFileName",
        "customWorkflow",
        "customWorkflowOverride",
        "routingConfig",
        "userWideWorkflowVariables",
        "sharedWorkflowsSubDirectoryOverride",
        "workflowUserFolderOverride",
        "jinja2",
        "currentUser",
        "discussionIdMemoryFileWorkflowSettings",
        "fileMemoryWorkflowName",
        "useVectorForQualityMemory",
        "é [0]'",
    ]
)
SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False, allow_infinity=False) | WORDS
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
FILES = st.dictionaries(
    st.sampled_from([*SMALL, "Routing/Mine.json", "Workflows/Ann/Mine.json"]), JSON, min_size=1, max_size=3
)


@settings(max_examples=25, deadline=None)
@given(FILES)
def test_any_json_in_any_file_never_breaks_the_check(files):
    with tempfile.TemporaryDirectory() as folder:
        tree = tree_of(Path(folder), files)
        for problem in check(tree, [], node_types()):
            assert problem.path.startswith("$")
        with suppress(SettingsError):
            user = tree.user("Ann")
            user.template_of(user.endpoint("Main"))
            user.preset("Calm", user.api_type("Open-AI-API"))
            user.workflow("Chat")
            user.discussion_settings()
