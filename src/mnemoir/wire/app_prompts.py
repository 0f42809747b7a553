"""Prompts written by chat apps: frames of documents around a question, and side tasks of the app itself.

A document frame surrounds a question that is sent with documents, knowledge or web results. Instructions for a tool
that an app appends to the question count as a frame too. The model needs the frame; memory uses the question only,
because a document or an instruction is not a statement of the person.
A frame counts only where its head, its documents and its tail all match one template. Documents are foreign text and
may hold closing marks of their own, so the question begins after the last closing mark. Where any part does not
match, the whole message counts as typed.

Side tasks are requests that apps make for themselves, such as a title, tags, or a summary of the chat. Nothing is
recalled for them, learned from them, or stored of them. A client can name one in the header `X-Mnemoir-Task`; else a
prompt is recognised by the frame of its template. Apps let users edit their templates: a prompt that matches no frame
is a person's turn, even if it begins like a template.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.messages import Message, TextPart, roles_of, text_at
from mnemoir.core.text import take_down
from mnemoir.wire.agents.frames import agent_question
from mnemoir.wire.agents.tasks import AGENT_TASKS, own_instructions
from mnemoir.wire.task_templates import TASK_TEMPLATES, TOOL_CHOICE

_QUESTION = re.compile(r"\n*(?P<question>.*)", re.DOTALL)
# the question is in a tag of the template, and once more after it where the app appends it itself
_QUERY_TAG = re.compile(r"\s*<user_query>\n(?P<tagged>.*)\n</user_query>\n*(?P<question>.*)", re.DOTALL)
_RULES_AND_QUERY_TAG = re.compile(r"\s*<rules>\n(?:(?!</rules>).)*</rules>\s*" + _QUERY_TAG.pattern, re.DOTALL)
_LABELLED = re.compile(r"\nQuestion to answer:\n\n(?P<question>.*)", re.DOTALL)
_WITHOUT_CODE = re.compile(r"(?P<question>(?:(?!```).)*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class _FrameBefore:
    """A frame in front of the question.

    The message begins with the first text of `head`, the others follow in order, and the last one opens the
    documents. `closing` ends them, and `tail` matches all text after its last occurrence.
    """

    head: Sequence[str]
    closing: str
    tail: re.Pattern[str]

    def question_in(self, text: str) -> str | None:
        parts = self._parts(text)
        return None if parts is None else parts[1]

    def document_in(self, text: str) -> str:
        """The documents of the frame; "" where there is no whole one."""
        parts = self._parts(text)
        return "" if parts is None else parts[0]

    def _parts(self, text: str) -> tuple[str, str] | None:
        """The documents and the question."""
        if not text.startswith(self.head[0]):
            return None
        at = 0
        for mark in self.head:
            found = text.find(mark, at)
            if found < 0:
                return None
            at = found + len(mark) - 1  # the next mark may begin with the newline that ends this one
        close = text.rfind(self.closing, at)
        tail = self.tail.fullmatch(text, close + len(self.closing)) if close >= 0 else None
        if tail is None:
            return None
        parts = tail.groupdict()
        question = parts["question"] if parts["question"].strip() else parts.get("tagged", "")
        return text[at:close], question


@dataclass(frozen=True, slots=True, kw_only=True)
class _FrameBehind:
    """A frame after the question: it begins with `opening`, holds `inner`, and ends the message with `closing`."""

    opening: str
    inner: str
    closing: str

    def question_in(self, text: str) -> str | None:
        if not text.rstrip().endswith(self.closing):
            return None
        begin = text.find(self.opening)
        if begin < 0 or (begin > 0 and text[begin - 1] != "\n") or text.find(self.inner, begin) < 0:
            return None
        return text[:begin].rstrip("\n")


class _FileList:
    """Open WebUI's list of attached files: one empty tag a line, without the files' contents."""

    HEAD = "<attached_files>\n"
    _LIST = re.compile(HEAD + r"(?:<file [^\n]*/>\n)+</attached_files>\n+")

    def question_in(self, text: str) -> str | None:
        found = self._LIST.match(text)
        return None if found is None else text[found.end() :]


_ANSWER_FROM_CONTEXT = "### Task:\nRespond to the user query using the provided context"
_CODE_INTERPRETER = "#### Code Interpreter\n\nYou have access to a Python code interpreter via: `<code_interpreter "
_FRAMES = (
    # Open WebUI, with the question in a tag and without
    _FrameBefore(
        head=(_ANSWER_FROM_CONTEXT, "\n### Guidelines:\n", "\n### Output:\n", "\n<context>\n"),
        closing="\n</context>\n",
        tail=_QUERY_TAG,
    ),
    _FrameBefore(
        head=(_ANSWER_FROM_CONTEXT, "\n### Guidelines:\n", "\n### Output:\n", "\n<context>\n"),
        closing="\n</context>\n",
        tail=_QUESTION,
    ),
    # Open WebUI before 0.5
    _FrameBefore(
        head=("You are given a user query, some textual context and rules, all inside xml tags.", "\n<context>\n"),
        closing="\n</context>\n",
        tail=_RULES_AND_QUERY_TAG,
    ),
    _FileList(),
    # LibreChat, files uploaded as text; a question with code in it could be a piece of the document
    _FrameBefore(head=("Attached document(s):\n```md", '# "'), closing="\n\n```\n", tail=_WITHOUT_CODE),
    # LobeChat
    _FrameBefore(
        head=(
            "You are a helpful assistant specialized in ",
            "Your task is to answer questions based on the provided context passages.",
            "\nThe provided context passages:\n\n<context>\n",
        ),
        closing="\n</context>\n",
        tail=_LABELLED,
    ),
    _FrameBehind(
        opening="<!-- SYSTEM CONTEXT (NOT PART OF USER QUERY) -->\n<context.instruction>",
        inner="\n</context.instruction>\n",
        closing="<!-- END SYSTEM CONTEXT -->",
    ),
    _FrameBehind(
        opening="<knowledge_base_qa_info>\n",
        inner="\n</knowledge_base_anwser_instruction>\n",  # as the app spells it
        closing="\n</knowledge_base_qa_info>",
    ),
    # Open WebUI, how to run code where the model is not offered a tool for it: in the browser and on a server
    _FrameBehind(
        opening=_CODE_INTERPRETER, inner="\n##### Persistent File System\n", closing=" to discover available files."
    ),
    _FrameBehind(
        opening=_CODE_INTERPRETER,
        inner="</code_interpreter>`",
        closing=" the highest-quality analysis for the user.",
    ),
)

_HEADS = (_FileList.HEAD, *(one.head[0] for one in _FRAMES if isinstance(one, _FrameBefore)))
_CLOSINGS = tuple(one.closing for one in _FRAMES if isinstance(one, _FrameBehind))


def question_in(text: str) -> str | None:
    """The question of a framed message, of an app or an agent; None where there is no whole frame.

    "" for a frame without a question. Several frames may follow each other.
    """
    question = _question_about_documents(text)
    said = agent_question(text if question is None else question)
    return question if said is None else said


def _question_about_documents(text: str) -> str | None:
    rest, found = text.lstrip(), False
    for _ in _FRAMES:
        if not (rest.startswith(_HEADS) or rest.rstrip().endswith(_CLOSINGS)):
            break  # as with nearly every message
        inner = next((one for frame in _FRAMES if (one := frame.question_in(rest)) is not None), None)
        if inner is None:
            break
        rest, found = inner, True
    return rest if found else None


def document_in(text: str) -> str:
    """The documents that a frame puts in front of a question, without the frame's own words; "" for none."""
    framed = take_down(text).lstrip()
    found = (frame.document_in(framed) for frame in _FRAMES if isinstance(frame, _FrameBefore))
    return next((document for document in found if document), "")


def typed_text(text: str) -> str:
    """The text of a message that a person typed: without recalled memories and document frame; trimmed."""
    said = take_down(text)
    question = question_in(said)
    return (said if question is None else question).strip()


def without_frame(message: Message) -> Message:
    """The user's message with its question only; the same object where there is no frame, or no question in it."""
    question = question_in(message.text) if message.role == "user" else None
    if not question or not question.strip():
        return message
    others = [part for part in message.parts if not isinstance(part, TextPart)]
    return replace(message, parts=(TextPart(text=question), *others))


TASK_HEADER = "X-Mnemoir-Task"
_TASKS = (*TASK_TEMPLATES, *AGENT_TASKS)
# no task has another beginning: these alone rule out nearly every chat
_PROMPT_HEADS = tuple({one.prompt.head for one in _TASKS if one.prompt is not None and one.system is None})
_SYSTEM_HEADS = tuple({one.system.head for one in _TASKS if one.system is not None})
_NAME = re.compile(r"[a-z_]{1,40}")
_INSTRUCTIONS = ("system", "developer", "systemMes")


def is_unfilled(value: str) -> bool:
    """Whether a header's value is a placeholder such as `{{USER_ID}}`, which the client did not fill in."""
    return "{{" in value


def named_task(value: str | None) -> str | None:
    """The task that the header `X-Mnemoir-Task` names; None where it names none.

    Blank, `none`, and a placeholder that the client did not fill in name none. Raises InvalidRequest for another
    value that is no valid name.
    """
    name = (value or "").strip()
    if not name or name.lower() == "none" or is_unfilled(name):
        return None
    if not _NAME.fullmatch(name):
        raise InvalidRequest(
            f"{TASK_HEADER} must be 1 to 40 lower-case letters and underscores, it is {name[:80]!r}. "
            "Leave it out, or send none, for what a person says.",
            field=TASK_HEADER,
        )
    return name


def recognised_task(messages: Sequence[Message]) -> str | None:
    """The side task of a request, recognised by the frames of known templates; None for a person's turn."""
    if not messages:
        return None
    last, roles = text_at(messages, -1), roles_of(messages)
    prompt = (agent_question(last) or last).strip()
    told = next((n for n, role in enumerate(roles[:-1]) if role in _INSTRUCTIONS), None)
    system = own_instructions("" if told is None else text_at(messages, told).strip())
    if not (prompt.startswith(_PROMPT_HEADS) or system.startswith(_SYSTEM_HEADS)):
        return None
    if _question_about_documents(prompt) is not None:  # a question about documents, whatever text these contain
        return None
    is_alone = sum(role not in _INSTRUCTIONS for role in roles) == 1
    found = (one.task for one in _TASKS if (is_alone or not one.is_alone) and one.fits(system, prompt))
    return next(found, None)


def is_task_prompt(text: str) -> bool:
    """True for a text that is the whole prompt of a side task by itself, without instructions beside it."""
    prompt = text.strip()
    return any(one.system is None and one.prompt is not None and one.prompt.fits(prompt) for one in TASK_TEMPLATES)


def asks_for_tools(messages: Sequence[Message]) -> bool:
    """True for an app's request to select among its tools."""
    return any(message.role == "system" and TOOL_CHOICE in message.text for message in messages)
