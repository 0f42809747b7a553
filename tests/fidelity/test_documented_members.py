"""The table of docs/chat-clients.md says of every member what the tables of these tests say."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.fidelity import (
    embedding_requests,
    ollama_requests,
    openai_chat_requests,
    openai_completion_requests,
)
from tests.fidelity.fates import Row

PAGE = Path(__file__).parents[2] / "docs" / "chat-clients.md"
PLACES = ("openai-chat", "openai-responses", "ollama")
TABLES: Sequence[tuple[str, Sequence[Row]]] = (
    ("OpenAI chat", openai_chat_requests.ROWS),
    ("OpenAI completions", openai_completion_requests.ROWS),
    ("Ollama chat, generate", ollama_requests.SHARED),
    ("Ollama chat", ollama_requests.ONLY_CHAT),
    ("Ollama generate", ollama_requests.ONLY_GENERATE),
    ("OpenAI embeddings", embedding_requests.OPENAI.ROWS),
    ("Ollama embed", embedding_requests.OLLAMA.ROWS),
    ("Ollama embeddings", embedding_requests.OLLAMA_PROMPT.ROWS),
)


def lines() -> Iterator[str]:
    """The table of the page: members of the same fate share a line."""
    yield "| client | members | model by OpenAI chat | by Responses | by Ollama |"
    yield "|---|---|---|---|---|"
    for client, rows in TABLES:
        groups: dict[tuple[str, ...], list[str]] = {}
        for row in rows:
            fates = tuple(row.fates[place].word if place in row.fates else "–" for place in PLACES)
            groups.setdefault(fates, []).append(shown(row.name))
        for fates, names in groups.items():
            yield f"| {client} | {', '.join(names)} | {' | '.join(fates)} |"


def shown(name: str) -> str:
    """A name as code, and a name of tomorrow as dots; a description as it is."""
    name = re.sub("an?_(name|option)_of_tomorrow", "…", name)
    return name if " " in name else f"`{name}`"


def test_the_page_has_the_table_of_all_members() -> None:
    page = PAGE.read_text(encoding="utf-8")
    begin = page.index("| client | members |")
    assert page[begin : page.index("\n\n", begin)].splitlines() == list(lines())
