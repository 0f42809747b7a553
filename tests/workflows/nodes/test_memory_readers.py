"""Nodes that read chunk summaries and the rolling summary: with a discussion, without one, and with damaged files."""

import pytest
from structlog.testing import capture_logs

from mnemoir.core.errors import SettingsError
from mnemoir.core.messages import Role, text_message
from mnemoir.workflows.nodes.chat_summary_memory_gathering_tool import ChatSummaryMemoryGatheringTool
from mnemoir.workflows.nodes.conversation_memory import ConversationMemory
from mnemoir.workflows.nodes.get_current_memory_from_file import GetCurrentMemoryFromFile
from mnemoir.workflows.nodes.get_current_summary_from_file import GetCurrentSummaryFromFile
from mnemoir.workflows.nodes.recent_memory_summarizer_tool import RecentMemorySummarizerTool
from mnemoir.workflows.nodes.slow_but_quality_rag import SlowButQualityRag
from mnemoir.workflows.nodes.vector_memory_search import VectorMemorySearch
from tests.workflows.memory_tree import RESPONDER, memory_tree, of, said
from tests.workflows.nodes.kept_memory import begun, damage, files_below, outdated, rolled, summarised
from tests.workflows.workflow_kit import chat, reply

BREAK = "--ChunkBreak--"
NONE_YET = "There are not yet any memories"
NO_SUMMARY = "There is not yet a summary file"
READERS = {
    RecentMemorySummarizerTool: "No memories have been generated yet",
    GetCurrentMemoryFromFile: NONE_YET,
    GetCurrentSummaryFromFile: NO_SUMMARY,
    ChatSummaryMemoryGatheringTool: "",
    VectorMemorySearch: "No relevant memories found in the vector database for the given keywords.",
}
SAYS = {VectorMemorySearch: {"input": "cats"}}


@pytest.mark.parametrize(
    ("said", "given"),
    [
        ({}, ["c", "d", "e"]),
        ({"maxSummaryChunksFromFile": 0}, ["c", "d", "e"]),
        ({"maxSummaryChunksFromFile": 1}, ["e"]),
        ({"maxSummaryChunksFromFile": "2"}, ["d", "e"]),
        ({"maxSummaryChunksFromFile": "{many}", "maxTurnsToPull": 1}, ["b", "c", "d", "e"]),
        ({"maxSummaryChunksFromFile": -1}, ["a", "b", "c", "d", "e"]),
        ({"maxSummaryChunksFromFile": 10**30}, ["a", "b", "c", "d", "e"]),
    ],
)
async def test_the_newest_chunk_summaries_are_returned_oldest_first(bench, said, given):
    bench.variables = {"many": 4}
    await summarised(bench, *"abcde")
    assert await bench.run(RecentMemorySummarizerTool, **said) == BREAK.join(given)


@pytest.mark.parametrize("kind", [RecentMemorySummarizerTool, GetCurrentMemoryFromFile])
@pytest.mark.parametrize("delimiter", ["\n\n", ""])
async def test_a_delimiter_is_put_between_summaries_only(bench, kind, delimiter):
    await summarised(bench, "a", f"b{BREAK}b", "c")
    assert await bench.run(kind, customDelimiter=delimiter) == delimiter.join(["a", f"b{BREAK}b", "c"])


async def test_all_chunk_summaries_are_given(bench):
    await summarised(bench, *"abcde")
    assert await bench.run(GetCurrentMemoryFromFile) == BREAK.join("abcde")


async def test_the_rolling_summary_is_given_as_it_is(bench):
    [chunk] = await summarised(bench, "a")
    await rolled(bench, " The whole {story}. ", chunk)
    assert await bench.run(GetCurrentSummaryFromFile) == " The whole {story}. "


async def test_the_chunk_summaries_behind_the_rolling_one_are_gathered(bench):
    chunks = await summarised(bench, *"abcd")
    assert await bench.run(ChatSummaryMemoryGatheringTool) == "\n------------\n".join("abcd")
    await rolled(bench, "a and b", chunks[1])
    assert await bench.run(ChatSummaryMemoryGatheringTool) == "c\n------------\nd"
    await rolled(bench, "all", chunks[3])
    assert await bench.run(ChatSummaryMemoryGatheringTool) == ""


@pytest.mark.parametrize("kind", [RecentMemorySummarizerTool, GetCurrentMemoryFromFile])
async def test_stale_chunk_summaries_are_not_read(bench, kind):
    chunks = await summarised(bench, *"abc")
    await outdated(bench, chunks[1])
    assert await bench.run(kind) == f"a{BREAK}c"


@pytest.mark.parametrize(("kind", "nothing"), READERS.items())
async def test_a_discussion_without_files_gives_a_sentence_and_no_file_is_made(bench, kind, nothing):
    place = begun(bench)
    assert await bench.run(kind, **SAYS.get(kind, {})) == nothing
    assert not place.root.exists()


@pytest.mark.parametrize("kind", READERS)
async def test_reading_changes_no_file(bench, kind):
    [chunk] = await summarised(bench, "a")
    await rolled(bench, "all", chunk)
    before = files_below(bench.public / "DiscussionIds")
    await bench.run(kind, **SAYS.get(kind, {}))
    assert files_below(bench.public / "DiscussionIds") == before


@pytest.mark.parametrize(("kind", "nothing"), READERS.items())
async def test_files_that_cannot_be_read_are_left_out_with_a_note(bench, kind, nothing):
    place = begun(bench)
    place.root.mkdir(parents=True)
    for end in ("_memories.jsonl", "_summary.jsonl", "_vector_memory.db"):
        (place.root / f"d1{end}").touch()
    damage(place, ("",))
    before = files_below(place.root)
    with capture_logs() as logs:
        assert await bench.run(kind, **SAYS.get(kind, {})) == nothing
    [note] = bench.step.trace.notes
    assert note.startswith("Memory was left out: ")
    assert [(entry["event"], entry["log_level"]) for entry in logs if entry["log_level"] == "warning"] == [
        ("discussion memory not read", "warning")
    ]
    assert files_below(place.root) == before


TURNS = [text_message("system", "S"), *(text_message("user", f"m{number}") for number in range(1, 10))]


@pytest.mark.parametrize(
    ("said", "given"),
    [
        ({"maxTurnsToPull": 4, "lookbackStart": 1}, "m5\nm6\nm7"),
        ({"maxTurnsToPull": 4}, "m6\nm7\nm8"),
        ({"maxTurnsToPull": "4", "maxSummaryChunksFromFile": 2}, "m6\nm7\nm8"),
        ({"maxTurnsToPull": 99, "lookbackStart": 7}, "S\nm1"),
        ({}, "There are no memories to grab yet"),
        ({"maxTurnsToPull": 4, "lookbackStart": 9}, "There are no memories to grab yet"),
    ],
)
async def test_without_a_discussion_recent_messages_replace_summaries(bench, said, given):
    bench.messages = list(TURNS)
    assert await bench.run(RecentMemorySummarizerTool, **said) == given


@pytest.mark.parametrize("kind", [RecentMemorySummarizerTool, ChatSummaryMemoryGatheringTool])
async def test_without_a_discussion_messages_of_all_roles_count(bench, kind):
    roles: tuple[Role, ...] = ("system", "user", "assistant", "system", "tool", "user")
    bench.messages = [text_message(role, f"{role} {number}") for number, role in enumerate(roles)]
    assert await bench.run(kind, maxTurnsToPull=4) == "assistant 2\nsystem 3\ntool 4"


@pytest.mark.parametrize(
    ("kind", "said", "between"),
    [
        (RecentMemorySummarizerTool, {"maxTurnsToPull": 3}, BREAK),
        (RecentMemorySummarizerTool, {"maxTurnsToPull": 3, "customDelimiter": " | "}, " | "),
        (ChatSummaryMemoryGatheringTool, {"maxTurnsToPull": 3}, "\n------------\n"),
    ],
)
async def test_without_a_discussion_long_messages_are_pieces_of_their_own(bench, kind, said, between):
    texts = [f"User: {letter} {'word ' * 300}".strip() for letter in "abc"]
    bench.messages = [text_message("user", text) for text in texts]
    expected = [text.removeprefix("User: ") for text in texts[:2]]
    assert await bench.run(kind, **said) == between.join(expected)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (GetCurrentMemoryFromFile, NONE_YET),
        (GetCurrentSummaryFromFile, NO_SUMMARY),
        (ConversationMemory, NONE_YET),
        (ChatSummaryMemoryGatheringTool, "There are no memories to grab yet"),
        (VectorMemorySearch, "Cannot perform VectorMemorySearch without a discussionId."),
    ],
)
async def test_without_a_discussion_a_sentence_is_returned(bench, kind, given):
    bench.messages = list(TURNS)
    assert await bench.run(kind, **SAYS.get(kind, {})) == given


KNOWN = {"title": "Known", "type": "ConversationMemory"}
TOOL = {"Workflows/Ann/Known.json": [{"type": "StaticResponse", "content": "known: {Discussion_Id}"}]}


class TestConversationMemory:
    """It runs a workflow of the user without sending events to the client."""

    def tree(self, desk, **members):
        answer = {**RESPONDER, "systemPrompt": "ANSWER {agent1Output}"}
        return memory_tree(desk, KNOWN, answer, files=TOOL, **members)

    async def test_its_output_is_that_of_the_users_workflow(self, desk, llm):
        workflows = self.tree(desk, conversationMemoryToolWorkflow="Known")
        llm.reply("the answer")
        assert await reply(workflows, of("d1", *said(3))) == "the answer"
        assert llm.requests[0].body["messages"][0]["content"] == "ANSWER known: d1"

    async def test_without_a_discussion_the_workflow_is_not_run(self, desk, llm):
        workflows = self.tree(desk)
        llm.reply("the answer")
        assert await reply(workflows, chat(*said(3))) == "the answer"
        assert llm.requests[0].body["messages"][0]["content"] == f"ANSWER {NONE_YET}"

    async def test_a_user_without_such_a_workflow_gets_an_error(self, desk):
        with pytest.raises(SettingsError, match="conversationMemoryToolWorkflow"):
            await reply(self.tree(desk), of("d1", *said(3)))


class TestPrompts:
    """The marks of memory in the prompts of SlowButQualityRAG."""

    @pytest.fixture
    def asking(self, bench, llm):
        bench.endpoint("first", llm.url)
        llm.rule(lambda asked: True, lambda asked: asked.body["messages"][-1]["content"].rpartition("\n")[2].upper())
        return {
            "ragTarget": "x--ChunkBreak--y",
            "ragType": "",
            "endpointName": "first",
            "systemPrompt": "[Chat_Summary]",
            "prompt": "[Memory_file]|[Full_Memory_file]\n[TextChunk]",
        }

    async def test_marks_are_replaced_by_summaries_followed_by_the_answers_of_this_run(self, bench, llm, asking):
        chunks = await summarised(bench, *"abcd", "[TextChunk] {agent1Output}")
        await rolled(bench, "so [Memory_file] far", chunks[0])
        assert await bench.run(SlowButQualityRag, **asking) == "XY"
        line = "\n--------------\n"
        kept = ["a", "b", "c", "d", "[TextChunk] {agent1Output}"]
        assert [asked.body["messages"][-1]["content"] for asked in llm.requests] == [
            f"{line.join(kept[-3:])}|{line.join(kept)}\nx",
            f"{line.join([*kept[-2:], 'X'])}|{line.join([*kept, 'X'])}\ny",
        ]
        assert {asked.body["messages"][0]["content"] for asked in llm.requests} == {"so [Memory_file] far"}

    async def test_unreadable_files_count_as_empty(self, bench, llm, asking):
        [chunk] = await summarised(bench, "a")
        await rolled(bench, "all", chunk)
        damage(begun(bench), (".jsonl",))
        assert await bench.run(SlowButQualityRag, **asking) == "XY"
        nothing = "No preceding memories to show"
        assert llm.requests[0].body["messages"][-1]["content"] == f"{nothing}|{nothing}\nx"
        assert llm.requests[0].body["messages"][0]["content"] == NO_SUMMARY
        assert len(bench.step.trace.notes) == 2

    async def test_nothing_is_written(self, bench, asking):
        await summarised(bench, "a")
        before = files_below(bench.public / "DiscussionIds")
        await bench.run(SlowButQualityRag, **asking)
        assert files_below(bench.public / "DiscussionIds") == before
