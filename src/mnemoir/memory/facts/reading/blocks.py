"""The part of a message from which facts may be learned.

Besides the frames of apps (`app_prompts`), memories and chats that a message repeats are left out, in whatever prompt
they stand. A fact learned from them would be a memory derived from a memory.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from mnemoir.core import first_use
from mnemoir.core.accents import aligned_text, without_accents
from mnemoir.wire.app_prompts import is_task_prompt, question_in

_MEMORY_TAG = first_use.pattern(
    r"<(?P<name>(?:[a-z]{1,20}[_-])?(?:memory|memories|known_facts|user_profile|chat_?history|history|transcript|"
    r"conversation)(?:[_-][a-z]{1,20})?)\b[^<>\n]{0,400}>",
    re.IGNORECASE,
)
_BELOW = (
    r"(?:\n[^\S\n]*\S[^\n]*|\n[^\S\n]*(?=\n[^\S\n]*(?:[-*•]|\d+[.)])\s))*"  # to a blank line with no list behind it
)
_HEADED = first_use.pattern(  # a line that ends in a colon or goes on behind it, and the lines below it
    rf"^(?:[-*#•>]|[^\S\n])*+(?P<heading>[^\n:]{{1,160}}):[^\n]*(?P<lines>{_BELOW})"
    rf"|^#{{1,6}}[^\S\n]+(?P<title>[^\n:]{{1,160}})(?P<below>{_BELOW})",
    re.MULTILINE,
)
_BEHIND_LABEL = first_use.pattern(r"[\]*_]*(?:[^\S\n]?:|[^\S\n][-–—]+[^\S\n])")
_LONGEST_LABEL = 40  # characters, with the end of the sentence before it
# a request for a title or a summary, with the chat it is about
_ABOUT_A_CHAT = first_use.pattern(
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
    return _HEADED.sub(_own_block, without_blocks(said, _MEMORY_TAG))


def _own_block(block: re.Match[str]) -> str:
    """The block; nothing of it where its heading says that it was recalled, or speaks of the user."""
    heading = without_accents((block["heading"] or block["title"]).replace("’", "'")).strip(" \t*_#")
    is_of_user = bool(_heading("user").search(heading))
    is_recalled = is_of_user or bool(_heading("recalled").search(heading))
    is_own = bool(_heading("own").match(heading)) and not _heading("others").search(heading)
    if not is_recalled or (is_own and not is_of_user):
        return block[0]
    is_list = bool(block["lines"] or block["below"]) or is_of_user
    return "" if is_list else block[0]


@cache
def _heading(kind: str) -> re.Pattern[str]:
    return first_use.pattern(rf"(?<!\w)(?:{_table()[kind]})(?!\w)", re.IGNORECASE)


@cache
def _table() -> Mapping[str, str]:
    table = tomllib.loads((files(__package__) / "blocks.toml").read_text(encoding="utf-8"))
    return {name: words.replace("\n", "") for name, words in table.items()}


def without_prompt_in_parts(text: str) -> str:
    """The text without "Context: … Task: …": what such labels stand before is a text to work on, and an order.

    It ends with the paragraph of the last label. A label of one kind alone may stand before the user's own words.
    """
    plain = aligned_text(text)
    found = [label for each in _BEHIND_LABEL.finditer(plain) if (label := _label_before(plain, each.start()))]
    if not (any(label["material"] for label in found) and any(label["request"] for label in found)):
        return text
    end = text.find("\n\n", found[-1].end())
    return text[: found[0].start()] + (text[end:] if end >= 0 else "")


def _label_before(plain: str, end: int) -> re.Match[str] | None:
    return _label().search(plain, max(0, end - _LONGEST_LABEL), end)


@cache
def _label() -> re.Pattern[str]:
    words = rf"(?:(?P<material>{_table()['material']})|(?P<request>{_table()['requests']}))"
    begin = r"(?:^|(?<=[.!?…;,|]\s)|(?<=[.!?…;,|]\s\s))(?:[-*#>\[]|[^\S\n])*"
    return first_use.pattern(rf"{begin}{words}\Z", re.IGNORECASE | re.MULTILINE)


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
