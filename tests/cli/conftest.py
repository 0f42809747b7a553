"""One server and one model for all chats of the command line: starting them costs more than most tests."""

import itertools
from collections.abc import Iterator

import pytest

from tests.cli.chat_server import ChatServer, chat_server
from tests.scripted_llm import ThreadedLLM

_users = itertools.count()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChatServer]:
    """A running server."""
    with chat_server(tmp_path_factory.mktemp("served")) as server:
        yield server


@pytest.fixture
def llm(served: ChatServer) -> ThreadedLLM:
    """The server's scripted model, without recorded requests."""
    served.llm.clear()
    return served.llm


@pytest.fixture
def user() -> str:
    """A new user without conversations."""
    return f"user{next(_users)}"
