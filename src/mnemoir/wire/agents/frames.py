"""The person's words in what a coding agent sends in the user's role.

Agents put reminders, their surroundings, project files, results of tools and summaries of a compacted session into
messages of the user's role. All of it stands in known tags, or behind known beginnings (`frames.toml`). Words that no
person wrote are never a question, and a person's words in a tag of the agent ("<task>") are.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from mnemoir.core.text import has_any

_LONGEST_BEGINNING = 400  # characters of what a message begins with
_ARGUMENTS = re.compile(r"<command-args>(?P<said>.*?)</command-args>", re.DOTALL)
_LOCAL = "<local-command-"  # behind a command with its output the person goes on; behind another stand its words


def agent_question(text: str) -> str | None:
    """The person's words in a message of an agent, "" for none of them; None where it has no frame of an agent."""
    if not _has_frame(text):
        return None
    if is_summary(text):
        return _behind_summary(text)
    said = _without_frames(text)
    if own := _own().match(said):
        return own["said"].strip()
    if _pattern("results").match(said):
        return ""
    if said.startswith("<") and (request := _request().search(said)):
        return request["said"].strip()
    return None if said == text.strip() else said


def feedback_in(result: str, tool: str) -> str:
    """The person's words in the result of an agent's tool, "" for none.

    What other tools return, such as a file or a page, may hold the same tags, and nobody knows who wrote them.
    """
    if "<" not in result or not re.fullmatch(_words("asking_tools"), tool):
        return ""
    own = _own().match(_without_frames(result))
    return own["said"].strip() if own else ""


def is_summary(text: str) -> bool:
    """True for a message with the summary of a compacted session."""
    return bool(_pattern("summaries").match(text.lstrip()))


def is_of_agent(text: str) -> bool:
    """True for a message in which an agent alone speaks, and which is no result of a tool."""
    return agent_question(text) == "" and not _pattern("results").match(_without_frames(text))


def _behind_summary(text: str) -> str:
    """What the person says behind a summary: behind its end, or behind the last block of the agent."""
    end = max((found.end() for found in _pattern("ends").finditer(text)), default=0)
    end = max((end, *(at for _, at in _spans(text))))
    return _without_frames(text[end:]) if end else ""


def _has_frame(text: str) -> bool:
    """True for a sign of an agent's frame; most messages have none."""
    if "<" in text and _tag().search(text):
        return True
    if has_any(text, _marks()):
        return True
    begin = text[:_LONGEST_BEGINNING].lstrip()
    return bool(_pattern("results").match(begin) or _pattern("summaries").match(begin))


def _without_frames(text: str) -> str:
    return _lines().sub("", _without_blocks(_without_pairs(text))).strip()


def _without_pairs(text: str) -> str:
    for pair in _table()["pairs"]:
        begin = text.find(pair["begins"])
        opening = text.find(pair["opens"], begin, begin + _LONGEST_BEGINNING) if begin >= 0 else -1
        end = text.rfind(pair["ends"])
        if 0 <= opening < end:
            text = text[:begin] + text[end + len(pair["ends"]) :]
    return text


def _without_blocks(text: str) -> str:
    """The text without the agent's blocks; of one that is not closed, nothing behind its beginning.

    A document inside of a block may close it early: what stands before its last closing tag goes, too.
    """
    kept, at, names = [], 0, set[str]()
    for begin, end in _spans(text):
        kept.append(text[at:begin])
        names.add(_tag_at(text, begin))
        at = end
    if not at:
        return text
    kept.append(text[at:])
    closings = [f"</{name}>" for name in names]
    early = max((kept[-1].rfind(each) + len(each) for each in closings if each in kept[-1]), default=0)
    kept[-1] = kept[-1][early:]
    is_command = "command-name" in names and _LOCAL not in text
    return _arguments(text) if is_command else "".join(kept)


def _arguments(text: str) -> str:
    """What a person wrote behind a command whose words the agent puts in their place."""
    found = _ARGUMENTS.search(text)
    return found["said"].strip() if found else ""


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """The agent's blocks, each from its beginning to behind its end: at the edge of a line, or of several lines."""
    at, unclosed = 0, set[str]()
    for opening in _opening().finditer(text):
        name = opening["name"]
        if opening.start() < at or name in unclosed:
            continue
        closing = text.find(f"</{name}>", opening.end())
        is_first = not text[text.rfind("\n", 0, opening.start()) + 1 : opening.start()].rpartition(">")[2].strip()
        if closing < 0:
            unclosed.add(name)
            if not is_first:
                continue
        end = len(text) if closing < 0 else closing + len(name) + 3
        line_end = text.find("\n", end)
        is_last = not text[end : line_end if line_end >= 0 else len(text)].strip()
        if is_first or is_last or "\n" in text[opening.end() : closing]:
            yield opening.start(), end
            at = end


def _tag_at(text: str, begin: int) -> str:
    found = _opening().match(text, begin)
    return found["name"] if found else ""


@cache
def _marks() -> Sequence[str]:
    return (*_table()["lines"], *(pair["begins"] for pair in _table()["pairs"]))


@cache
def _tag() -> re.Pattern[str]:
    return re.compile(rf"<(?:{_words('blocks')}|{_words('own')}|{_words('requests')})[>\s]")


@cache
def _lines() -> re.Pattern[str]:
    beginnings = "|".join(map(re.escape, _table()["lines"]))
    return re.compile(rf"^[^\S\n]*(?:{beginnings})[^\n]*", re.MULTILINE)


@cache
def _opening() -> re.Pattern[str]:
    return re.compile(rf"<(?P<name>{_words('blocks')})(?:\s[^<>\n]{{0,400}})?>")


@cache
def _own() -> re.Pattern[str]:
    """The person's words in a tag, at the beginning or behind what an agent says of them."""
    result = rf"\[(?:{_words('asking_tools')})(?: for [^\n]*?)?\] Result:|\[TASK RESUMPTION\][^\n]*"
    before = rf"(?:(?:{result})\s*)?(?:(?:{_words('asks')})\s*)?"
    return re.compile(rf"{before}<(?P<own>{_words('own')})>(?P<said>.*?)</(?P=own)>", re.DOTALL)


@cache
def _request() -> re.Pattern[str]:
    return re.compile(rf"^<(?P<own>{_words('requests')})>(?P<said>.*?)</(?P=own)>\s*\Z", re.DOTALL | re.MULTILINE)


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{_words(kind)})")


@cache
def _words(kind: str) -> str:
    return str(_table()[kind]).replace("\n", "")


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads((files(__package__) / "frames.toml").read_text(encoding="utf-8"))
