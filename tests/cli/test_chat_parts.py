"""The parts of the terminal chat that need no terminal: Markdown in pieces, safe text, times, completion, answers."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as some
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from rich.markdown import Markdown

from mnemoir.cli.chat.changing import ago
from mnemoir.cli.chat.conversation import Answer, pieces
from mnemoir.cli.chat.display import clipped_line, inert
from mnemoir.cli.chat.learning import learned_line
from mnemoir.cli.chat.loop import NAMES, leaves
from mnemoir.cli.chat.prompt import CommandCompleter, TypedLines
from mnemoir.cli.chat.terminal import finished_blocks
from mnemoir.core.clock import utc_now
from mnemoir.core.errors import MnemoirError, ProviderInvalidOutput, ProviderUnavailable

WORDS = ("words", "more words", "", "code()", "    indented", "<b>")
MARKS = ("# head", "- one", "  - in it", "2. two", "```", "> said", "| a | b |", "|---|---|", "===", "---", "* * *")
LINES = some.sampled_from([*WORDS, *MARKS])


def kinds(text):
    """The kinds of the blocks of a text."""
    return [(token.type, token.level, token.content) for token in Markdown(text).parsed]


@given(some.lists(LINES, max_size=12), some.integers(0, 100))
def test_finished_blocks_do_not_change_with_any_further_text(lines, cut):
    text = "\n".join(lines)
    grown = text[: cut % (len(text) + 1)]
    length = finished_blocks(grown)
    assert kinds(text) == [*kinds(text[:length]), *kinds(text[length:])]


def test_an_unfinished_line_finishes_no_block():
    assert finished_blocks("1. one\n\n2") == 0
    assert finished_blocks("1. one\n\n2. two\n\nThen") == 0
    assert finished_blocks("1. one\n\n2. two\n\nThen\n") == len("1. one\n\n2. two\n\n")


@given(some.text())
def test_shown_text_never_contains_a_terminal_command(text):
    shown = inert(text)
    assert not any((c < " " and c not in "\n\t") or "\x7f" <= c <= "\x9f" for c in shown)
    shown.encode()


def test_words_of_other_scripts_stay_unchanged():
    for text in ("👩‍🔬 می‌روم", "naïve\u202fcafé\u00a0!", "a\tb\nc", "\u0421ало"):
        assert inert(text) == text


def test_a_line_is_clipped_with_a_mark():
    assert clipped_line("one\n  two  three", 11) == "one two th…"
    assert clipped_line("one two", 7) == "one two"


@pytest.mark.parametrize(
    ("passed", "told"),
    [
        (timedelta(seconds=-5), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=60), "1 minute ago"),
        (timedelta(minutes=59, seconds=59), "59 minutes ago"),
        (timedelta(hours=23), "23 hours ago"),
        (timedelta(days=2), "2 days ago"),
    ],
)
def test_a_time_is_shown_in_its_largest_unit(passed, told):
    now = utc_now()
    assert ago(now - passed, now) == told


def test_what_is_older_than_a_month_has_a_date():
    now = utc_now()
    then = now - timedelta(days=40)
    assert ago(then, now) == then.date().isoformat()


def test_every_leave_command_ends_the_chat():
    assert [name for name in NAMES if leaves(name)] == ["/exit", "/quit", "/q"]
    assert leaves("/Q now")


async def completions(text):
    """What is offered for a text, of two conversations."""

    async def listing():
        for id in ("apple-1", "apricot-2"):
            yield {"id": id, "title": None, "preview": "Fruit"}

    completer = CommandCompleter(NAMES, listing)
    offered = completer.get_completions_async(Document(text), CompleteEvent(completion_requested=True))
    return [one.text async for one in offered]


async def test_commands_and_conversations_are_completed():
    assert await completions("/se") == ["/sessions", "/search"]
    assert await completions("/LOAD ap") == ["apple-1", "apricot-2"]
    assert await completions("/load apr") == ["apricot-2"]
    assert await completions("/history ap") == []
    assert await completions("") == []
    assert await completions("hello") == []


async def test_conversations_that_cannot_be_listed_are_not_completed():
    async def listing():
        raise MnemoirError("no server")
        yield

    completer = CommandCompleter(NAMES, listing)
    assert [one async for one in completer.get_completions_async(Document("/load "), CompleteEvent())] == []


def test_forgetting_removes_typed_lines_and_searches(tmp_path):
    lines = TypedLines(tmp_path)
    for line in ("keep this", "my secret", "two\nlines", "/search secret", "/sessions", "   "):
        lines.append_string(line)
    lines.forget({"my secret", "two\nlines"})
    assert lines.get_strings() == ["keep this", "/sessions"]
    assert list(TypedLines(tmp_path).load_history_strings()) == ["/sessions", "keep this"]
    assert b"secret" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


def test_a_link_in_place_of_the_typed_lines_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").write_text("mine")
    (tmp_path / "chat-history").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        TypedLines(tmp_path)


async def read(*lines):
    """The answer of these lines, and the pieces it came in."""

    async def stream():
        for line in lines:
            yield line

    answer = Answer()
    return answer, [piece async for piece in pieces(stream(), answer)]


def said(delta, reason="null"):
    """A line of a stream."""
    return f'data: {{"model": "m", "choices": [{{"delta": {delta}, "finish_reason": {reason}}}]}}'.encode()


async def test_an_answer_is_read_piece_by_piece():
    answer, came = await read(
        b": still here",
        said('{"content": "a"}'),
        said('{"content": null}'),
        said('{"content": "b"}', '"stop"'),
        b"data: [DONE]",
    )
    assert came == ["a", "b"]
    assert answer == Answer(model="m", text="ab", reason="stop")


async def test_tools_that_a_model_asks_for_are_named():
    call = '{"tool_calls": [{"index": 0, "function": {"name": "clock", "arguments": "{}"}}]}'
    answer, _ = await read(said(call), said("{}", '"tool_calls"'))
    assert answer.tools == ["clock"]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"data: [DONE]", ProviderUnavailable),
        (b"data: {not json", ProviderInvalidOutput),
        (b'data: {"error": {"message": "overloaded", "code": "x"}}', MnemoirError),
        (b'data: {"error": "overloaded"}', MnemoirError),
    ],
)
async def test_an_incomplete_answer_is_an_error(line, error):
    with pytest.raises(error):
        await read(said('{"content": "a"}'), line)


def test_what_waits_for_a_review_is_told_beside_what_was_learned():
    nuts, tea = ({"id": "m", "event": "ADD", "memory": text, "previous_memory": None} for text in ("Nuts", "Tea"))
    told = {"state": "proposed", "error": None, "change_id": None, "memories": [], "known": [], "proposed": [tea]}
    assert learned_line(told) == "Waits for a review: Tea"
    learned = told | {"state": "learned", "memories": [nuts], "change_id": "chg_1"}
    assert learned_line(learned) == "Learned: Nuts (/undo takes it back) · Waits for a review: Tea"
