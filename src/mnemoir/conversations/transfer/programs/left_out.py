"""What a chat holds and conversations have no place for: counted by kind, and found where no reader looked.

So no word of a file is lost silently: each text in a member that holds somebody's words arrives in the session, or is
counted.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from mnemoir.conversations.transfer.programs.loose import words_in

# who speaks or hears, in the words of any program
_ROLES = frozenset(
    (
        *("ai", "all", "assistant", "bot", "character", "developer", "function", "gpt", "human", "model", "request"),
        *("response", "system", "tool", "user", "you"),
    )
)
_WORD = re.compile(r"\w+")
_OTHER = "other words"
_KINDS = {
    **{kind: kind for kind in ("calls of tools", "errors", "instructions", "messages", "notices", "pictures")},
    "relations": "relations",
    "sources": "sources",
    "thinking": "thinking",
    "error": "errors",
    "search": "sources",
}
# the members within which a `name` is of a file or of a tool
_NAMED = frozenset({"attachments", "files", "function", "invocation", "tool", "tool_call", "tool_calls"})
# what was not said in the chat: notes of the program and its settings
_ASIDE = frozenset(
    (
        *("account", "author", "generator", "genInfo", "lastUsedModel", "metadata", "statusHistory", "style"),
        *("swipe_info", "usage"),
    )
)
_SAID_ASIDE = _NAMED | {"aggregate_result", "canvas"}  # what stands in such notes all the same
# other people's pages
_SOURCES = frozenset(
    (
        *("annotations", "citations", "content_references", "safe_urls", "search_result_groups", "sources"),
        *("sync_sources", "webSearchResults"),
    )
)
# the last part of the names of members that tell what a thing is, where and when
_TECHNICAL = frozenset(
    (
        *(
            "api",
            "at",
            "avatar",
            "channel",
            "children",
            "color",
            "currently",
            "data",
            "date",
            "direction",
            "endpoint",
        ),
        *("fingerprint", "format", "hash", "icon", "id", "idents", "ids", "idt", "image", "integrity", "key", "kind"),
        *(
            "ft",
            "icons",
            "input_mode",
            "lang",
            "language",
            "locale",
            "mgt",
            "mode",
            "model",
            "models",
            "name",
            "node",
        ),
        *("object", "parent", "path", "pointer", "provider", "pt", "reason", "recipient", "reftype", "role", "rt"),
        *("scope", "selected", "signature", "size", "slug", "state", "status", "symbol", "template", "tier", "time"),
        *("timestamp", "timezone", "type", "uid", "url", "uuid", "vdt", "version", "filepath", "override"),
    )
)
# members with words whose names end like those
_WORDS = frozenset({"file_name", "promptTemplate", "reason"})
_PART = re.compile(r"[A-Z]?[a-z0-9]+$|[A-Z]+$")
# no words: a date, a digest, an address
_VALUE = re.compile(
    r"\d{4}-\d\d-\d\d.*|[0-9a-f-]{16,}|data:.*|(?:https?|file|file-service|sediment)://\S*", re.DOTALL
)


@dataclass(slots=True)
class LeftOut:
    """Counts by kind, and the words that were counted."""

    counts: Counter[str] = field(default_factory=Counter)
    words: list[str] = field(default_factory=list)

    def note(self, kind: str, value: object) -> None:
        """Count a value that is left out, if there are words in it."""
        words = words_in(value)
        if words.strip():
            self.counts[_KINDS.get(kind, _OTHER)] += 1
            self.words.append(words)

    def see(self, words: str) -> None:
        """Note words that are read in another form, such as marks around thinking."""
        self.words.append(words)

    def note_rest(self, told: object, arrived: Iterable[str]) -> None:
        """Count each text of a chat once that is neither in the texts that `arrived` nor counted yet."""
        known = {word for text in (*arrived, *self.words) for word in _WORD.findall(text)}
        for kind, text in dict.fromkeys(_said_in(told)):
            if not known.issuperset(_WORD.findall(text)):
                self.counts[kind] += 1


def _said_in(told: object) -> Iterator[tuple[str, str]]:
    """The texts in all members that may hold words, with their kind, without the marks of citations."""
    waiting: list[tuple[Any, str, bool, bool]] = [(told, "", False, False)]
    while waiting:
        value, kind, is_named, is_aside = waiting.pop()
        if isinstance(value, dict):
            for key, inner in value.items():
                if key in _SOURCES:
                    waiting.append((words_in(inner), "sources", False, False))
                    continue
                named = is_named or key in _NAMED
                aside = key not in _SAID_ASIDE and (is_aside or key in _ASIDE)
                said = not aside and (not _is_technical(key) or (key == "name" and named))
                waiting.append((inner, _OTHER if said else "", named, aside))
        elif isinstance(value, list):
            waiting += ((inner, kind, is_named, is_aside) for inner in value)
        elif isinstance(value, str) and kind and (kind != _OTHER or _has_words(value)):
            yield kind, value.partition("\ue200")[0]


def _is_technical(name: str) -> bool:
    last = _PART.search(name)
    return name not in _WORDS and last is not None and last[0].lower() in _TECHNICAL


def _has_words(text: str) -> bool:
    return text.lower() not in _ROLES and any(map(str.isalpha, text)) and _VALUE.fullmatch(text) is None
