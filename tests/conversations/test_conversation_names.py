"""The public names of `mnemoir.conversations` are there, whole, and cost nothing until they are asked for."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mnemoir.conversations as conversations

DOCUMENTED = {
    "BaseMemory",
    "ChromaDBVectorStore",
    "EmbeddingClient",
    "MemoryConfig",
    "MemoryManager",
    "MemoryMode",
    "MemoryStorage",
    "Message",
    "MessageRecord",
    "NodeMemoryData",
    "NodeMemoryFile",
    "NodeMemoryMessage",
    "NodeTokenBufferMemory",
    "SessionMetadata",
    "SessionRecord",
    "SessionExistsError",
    "TokenBufferMemory",
    "ToolCall",
    "VectorStore",
    "cleanup_node_memory",
    "extract_thread_messages",
    "fetch_memory",
    "fetch_node_memory",
    "get_thread_messages_length",
    "validate_memory_config",
}


ALIASES = {"FileType", "FileTransferMethod", "Resumed", "SessionStorage"}  # public names of types named otherwise


PUBLIC: list[str] = vars(conversations)["__all__"]  # the stub does not have it


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_something(name):
    found = getattr(conversations, name)
    assert getattr(found, "__name__", name) == name or name in ALIASES
    assert name in dir(conversations)


def test_documented_names_are_public():
    assert set(PUBLIC) >= DOCUMENTED


def test_type_checkers_see_the_names_that_come_by_entry_points():
    listed = ast.parse(Path(conversations.__file__).with_suffix(".pyi").read_text("utf-8"))
    declared = {
        node.target.id
        for node in listed.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    assert declared == set(vars(conversations)["_BACKENDS"])


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        getattr(conversations, "nothing")  # noqa: B009 the stub does not have it


def test_nothing_is_imported_before_it_is_asked_for():
    code = "import sys, mnemoir.conversations; print(*sorted(m for m in sys.modules if m.startswith('mnemoir.conv')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["mnemoir.conversations"]
