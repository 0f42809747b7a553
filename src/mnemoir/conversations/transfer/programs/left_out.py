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

_WORD = re.compile(r"\w+")
_OTHER = "other words"
# the members whose texts are somebody's words, in any of the programs
_WORDS = frozenset(
    (
        *("aText", "alt", "args", "arguments", "caption", "comment", "content", "extracted_content", "file_name"),
        *("filename", "input", "mes", "note_prompt", "output", "part", "parts", "promptPrefix", "query", "refusal"),
        *("result", "summary", "swipes", "system", "systemPrompt", "text", "title", "userTitle", "value"),
    )
)
# the members within which a `name` is of a file or of a tool
_NAMED = frozenset({"attachments", "files", "function", "invocation", "tool", "tool_call", "tool_calls"})
# what was not said in the chat: notes of the program, and other people's pages
_ASIDE = frozenset(
    (
        *("account", "annotations", "author", "citations", "content_references", "generator", "genInfo", "metadata"),
        *("lastUsedModel", "search_result_groups", "sources", "statusHistory", "swipe_info", "usage"),
    )
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
            self.counts[kind] += 1
            self.words.append(words)

    def see(self, words: str) -> None:
        """Note words that are read in another form, such as marks around thinking."""
        self.words.append(words)

    def note_rest(self, told: object, arrived: Iterable[str]) -> None:
        """Count each text of a chat that is neither in the texts that `arrived` nor counted yet."""
        known = {word for text in (*arrived, *self.words) for word in _WORD.findall(text)}
        for text in _said_in(told):
            if not known.issuperset(_WORD.findall(text)):
                self.counts[_OTHER] += 1


def _said_in(told: object) -> Iterator[str]:
    """The texts in members that hold words, without pictures and the marks of citations."""
    waiting: list[tuple[Any, bool, bool, bool]] = [(told, False, False, False)]
    while waiting:
        value, is_said, is_named, is_aside = waiting.pop()
        if isinstance(value, dict):
            for key, inner in value.items():
                named = is_named or key in _NAMED
                aside = key not in _NAMED and (is_aside or key in _ASIDE)
                said = not aside and (key in _WORDS or (key == "name" and named))
                waiting.append((inner, said, named, aside))
        elif isinstance(value, list):
            waiting += ((inner, is_said, is_named, is_aside) for inner in value)
        elif isinstance(value, str) and is_said and not value.startswith("data:"):
            yield value.partition("\ue200")[0]
