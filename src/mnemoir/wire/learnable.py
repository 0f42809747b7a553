"""The part of a message from which facts may be learned.

Besides the frames of apps (`app_prompts`), memories and chats that a message repeats are left out, in whatever prompt
they stand. A fact learned from them would be a memory derived from a memory.
"""

import re

from mnemoir.wire.app_prompts import is_task_prompt, question_in

_MEMORY_TAG = re.compile(
    r"<(?P<name>(?:[a-z]{1,20}[_-])?(?:memory|memories|known_facts|user_profile|chat_?history|history|transcript|"
    r"conversation)(?:[_-][a-z]{1,20})?)\b[^<>\n]{0,400}>",
    re.IGNORECASE,
)
_LIST_ABOUT_THE_USER = re.compile(  # a heading such as "Recalled background about the user:" and its list
    r"^[^\n:]{0,80}\b(?:recalled|remembered|known|memor(?:y|ies)|background|facts?|context|information|profile|notes?)\b"
    r"[^\n:]{0,60}\b(?:the|this) user\b[^\n:]{0,60}:[^\n]*(?:\n[^\S\n]*(?:[-*•]|\d+[.)])[^\n]*|\n[^\S\n]*$)*",
    re.MULTILINE | re.IGNORECASE,
)
# a request for a title or a summary, with the chat it is about
_ABOUT_A_CHAT = re.compile(
    r"(?=[^\n]{0,300}\b(?:title|summar|tags?\b|topic|keyword|follow[- ]?up))"
    r"(?=[^\n]{0,300}\b(?:conversation|chat|dialog|discussion|messages)).{0,2000}?(?:^|[.!?:>\]])\s*(?:user|human)\s*:",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)


def learnable(text: str) -> str:
    """The text of a message without frames, repeated memories and repeated chats; "" for a side task's prompt."""
    question = question_in(text)
    if question is None and (is_task_prompt(text) or _ABOUT_A_CHAT.match(text.strip())):
        return ""
    said = text if question is None else question
    return _LIST_ABOUT_THE_USER.sub("", without_blocks(said, _MEMORY_TAG))


def without_blocks(text: str, tag: re.Pattern[str]) -> str:
    """The text without blocks between an opening `tag`, whose group is `name`, and its closing tag.

    The work grows with the length of the text, also where many tags are open.
    """
    kept, at, open_ones = [], 0, set[str]()
    for opening in tag.finditer(text):
        name = opening["name"]
        if opening.start() < at or name in open_ones:
            continue
        end = text.find(f"</{name}>", opening.end())
        if end < 0:
            open_ones.add(name)
            continue
        kept.append(text[at : opening.start()])
        at = end + len(name) + 3
    return " ".join((*kept, text[at:]))
