"""A running server for chats of the command line, and the model that it asks."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.remembering_model import learn_every_turn
from tests.scripted_llm import ScriptedLLM, ThreadedLLM
from tests.serving import ServerProcess


@dataclass(frozen=True, kw_only=True)
class ChatServer:
    """`environment` leads commands to the server; `data_dir` is the server's own."""

    llm: ThreadedLLM
    environment: dict[str, str]
    data_dir: Path


def asking(llm: ThreadedLLM) -> dict[str, str]:
    """Settings that lead to the scripted model."""
    return {
        "OPENAI_BASE_URL": llm.openai_url,
        "OPENAI_API_KEY": "sk-test",
        "MNEMOIR_LLM__PROVIDER": "openai-chat",
        "MNEMOIR_LLM__MODEL": "scripted",
        "MNEMOIR_LLM__TRIES": "1",
    }


@contextmanager
def chat_server(folder: Path) -> Iterator[ChatServer]:
    """A server whose model remembers each turn as a fact."""
    with ScriptedLLM.in_thread() as llm:
        learn_every_turn(llm)
        with ServerProcess(folder / "data", environment=asking(llm)) as server:
            environment = {"MNEMOIR_SERVER__PORT": str(server.port)}
            yield ChatServer(llm=llm, environment=environment, data_dir=server.data_dir)
