"""Extraction of facts from a conversation by rule: statements of the user in the first person."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from mnemoir.core.clock import from_text
from mnemoir.core.text import content_hash
from mnemoir.providers.llm.offline.clauses import clauses
from mnemoir.providers.llm.offline.decide import settled
from mnemoir.providers.llm.offline.statements import statements

_MOST_FACTS = 200  # `settled` compares each fact with each


def extract(document: Mapping[str, Any]) -> dict[str, Any]:
    """`{"conversation_date", "turns": [{"role", "text"}]}` to `{"facts": [...]}`, each fact once, in order said.

    Only user turns count. Relative dates refer to the conversation's date. Later statements replace earlier ones that
    they contradict.
    """
    said_at = from_text(document.get("conversation_date")) or datetime.now(UTC)
    found: dict[bytes, str] = {}
    for turn in document.get("turns") or ():
        if isinstance(turn, Mapping) and turn.get("role") == "user":
            for fact in facts_of(str(turn.get("text", "")), said_at.date()):
                found.setdefault(content_hash(fact), fact)
    return {"facts": settled(list(found.values())[:_MOST_FACTS])}


def facts_of(text: str, today: date) -> list[str]:
    """The statements of one user turn."""
    return [fact for clause in clauses(text) for fact in statements(clause, today)]
