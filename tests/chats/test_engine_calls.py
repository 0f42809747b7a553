"""How often a kept chat with memory calls databases before its answer has ended: each call may be a round trip."""

from contextvars import ContextVar

import pytest

from mnemoir.storage.sqlite.database import SqliteEngine
from mnemoir.storage.sqlite.shared_file import SharedFile
from tests.chats.chat_kit import opened_chats, texts_of
from tests.remembering_model import learn_every_turn
from tests.scripted_llm import Answer, ScriptedLLM

_counted: ContextVar[list[str] | None] = ContextVar("counted", default=None)


@pytest.fixture
def calls(monkeypatch):
    """The calls of all engines, in order, of what runs in the context that counts them."""
    for engine in (SqliteEngine, SharedFile):
        for kind in ("read", "write"):
            monkeypatch.setattr(engine, kind, _noting(engine, kind))
    return []


def _noting(engine, kind):
    through = getattr(engine, kind)

    def noting(*args, **options):
        if (made := _counted.get()) is not None:
            made.append(kind)
        return through(*args, **options)

    return noting


@pytest.mark.parametrize("has_vectors", [True, False])
@pytest.mark.parametrize("history", ["client", "server"])
async def test_a_kept_chat_with_memory_calls_the_engines_five_times(tmp_path, calls, history, has_vectors):
    settings = {"memory.vector_store.enabled": has_vectors}
    async with ScriptedLLM() as llm, opened_chats(tmp_path, llm, **settings) as chats:
        learn_every_turn(llm, lambda asked: Answer(text='{"facts": []}'))
        said = ["My name is Ada", "Understood.", "Where do I live?"]
        await chats.chat(said[0], memoryEnabled=True, history=history)
        _counted.set(calls)  # what runs behind all requests began in another context
        await chats.chat(*(said if history == "client" else said[2:]), memoryEnabled=True, history=history)
        # the question, and the window; memories; turns that wait; the answer; the turn to learn from
        made = calls[:5] if has_vectors else calls  # vectors are made behind the answer
        assert made == ["write", "read", "read", "write", "write"]
        assert texts_of(await chats.lines()) == [*said, "Understood."]
