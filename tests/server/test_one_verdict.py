"""An answer of a model's server has the same verdict wherever it is asked for.

Sixty answers, each kind of verdict at least thrice, go through all that ask models: the built-in workflow, a tree of
one node, a node before the answer, memory and the test of a connection.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence

import orjson
import pytest

from mnemoir.providers.http import AsgiAnswer
from tests.remembering_model import learn_every_turn
from tests.scripted_llm import Answer, Asked, ScriptedLLM
from tests.server.served_tree import BEFORE, answering, before, endpoint, served
from tests.server.server_kit import asks, hello
from tests.server.test_incomplete_answers import only_the_whole_turn_is_remembered
from tests.wire.answer_cases import CASES
from tests.wire.answer_kit import Case, Verdict

pytestmark = pytest.mark.slow
CHAT, MEMORIES, TEST = "/v1/chat/completions", "/api/memories", "/api/model/test"
TREES = {
    "openai-chat": "OpenAiChat",
    "openai-completions": "OpenAiText",
    "koboldcpp": "Kobold",
    "ollama-chat": "OllamaChat",
    "ollama-generate": "OllamaText",
}
BUILT_IN = {"openai-chat": "openai-chat", "openai-responses": "openai-responses", "ollama-chat": "ollama"}
OWN = {"origin": "http://localhost", "content_type": "application/json"}
_CODES = {
    "FailedAnswer": "llm_unavailable",
    "ProviderUnavailable": "llm_unavailable",
    "ProviderInvalidOutput": "llm_invalid_output",
    "ProviderRefused 400": "llm_bad_request",
    "ProviderRefused 429": "llm_rate_limited",
}
_STATUS = {500: 502, 502: 502}  # of an error, as the client gets it; any other stays as it is
_MOST_OF_A_KIND = 3


def kind_of(case: Case) -> str:
    """The kind of a verdict: its error, with the status of a refusal, or what the answer consists of."""
    verdict = case.verdict
    if verdict.error:
        return f"ProviderRefused {verdict.status}" if verdict.error == "ProviderRefused" else verdict.error
    return "calls" if verdict.calls else "text" if verdict.text else "empty"


def chosen() -> Sequence[Case]:
    """Of each protocol a few cases of each kind, and those that say so."""
    counts: Counter[tuple[str, str]] = Counter()
    found = []
    for case in CASES:
        key = case.protocol, kind_of(case)
        counts[key] += 1
        if case.reach == "all" or (case.reach == "some" and counts[key] <= _MOST_OF_A_KIND):
            found.append(case)
    return found


CHOSEN = chosen()


def came(answer: AsgiAnswer, *, stream: bool) -> tuple[Verdict, str]:
    """What the client got of an answer, and the words of its error."""
    if answer.status != 200:
        return Verdict(reason="", error="error", status=answer.status), answer.body.decode()
    if not stream:
        body = orjson.loads(answer.body)
        message, usage = body["choices"][0]["message"], body["usage"]
        calls = [(one["function"]["name"], one["function"]["arguments"]) for one in message.get("tool_calls", ())]
        return _verdict(message["content"], message.get("reasoning_content"), calls, body["choices"], usage), ""
    frames = [orjson.loads(line[6:]) for line in answer.body.splitlines() if line.startswith(b"data: {")]
    if "error" in frames[-1]:
        return Verdict(reason="", error="error", status=200), answer.body.decode()
    deltas = [choice["delta"] for frame in frames for choice in frame["choices"]]
    pieces: dict[int, tuple[str, str]] = {}
    for part in (part for delta in deltas for part in delta.get("tool_calls", ())):
        name, arguments = pieces.get(part["index"], ("", ""))
        called = part["function"]
        pieces[part["index"]] = name + called.get("name", ""), arguments + called["arguments"]
    text, thinking = ("".join(delta.get(name) or "" for delta in deltas) for name in ("content", "reasoning_content"))
    last = next(frame["choices"] for frame in reversed(frames) if frame["choices"])
    return _verdict(text, thinking, list(pieces.values()), last, frames[-1]["usage"]), ""


def _verdict(text: str | None, thinking: str | None, calls: Sequence, choices: Sequence, usage: Mapping) -> Verdict:
    counts = usage["prompt_tokens"], usage["completion_tokens"]
    reason = choices[0]["finish_reason"]
    return Verdict(text=text or "", thinking=thinking or "", calls=tuple(calls), reason=reason, usage=counts)


def check_client(case: Case, answer: AsgiAnswer, *, stream: bool, thinks: bool) -> None:
    """The verdict of a client is that of the case; with a config tree it sees no thinking."""
    got, words = came(answer, stream=stream)
    expected = case.verdict
    if not expected.error:
        shown = expected.thinking if thinks else ""
        assert got == Verdict(
            text=expected.text, thinking=shown, calls=expected.calls, reason=expected.reason, usage=expected.usage
        ), case.name
        return
    statuses = {_STATUS.get(expected.status or 502, expected.status or 502)} | ({200} if stream else set())
    assert (got.error, got.status in statuses) == ("error", True), (case.name, answer.status, answer.body)
    assert orjson.dumps(case.words)[1:-1].decode() in words, case.name


def body_of(case: Case) -> Answer:
    return Answer(body=case.body, headers={"Content-Type": case.media_type})


def test_the_cases_are_of_all_kinds() -> None:
    kinds = Counter(kind_of(case) for case in CHOSEN)
    assert len(CHOSEN) >= 60
    assert min(kinds.values()) >= 3, kinds


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("protocol", BUILT_IN)
async def test_the_built_in_workflow_has_the_verdict(open_server, llm, protocol, stream):
    server = await open_server(asks(llm) | {"llm.provider": BUILT_IN[protocol], "llm.ollama_url": llm.url})
    for case in (case for case in CHOSEN if case.protocol == protocol):
        llm.queue(body_of(case))
        asked = hello(stream=stream, stream_options={"include_usage": True}) if stream else hello()
        check_client(case, await server.ask("POST", CHAT, asked), stream=stream, thinks=True)
        (run, *_) = (await server.get("/api/runs"))["results"]
        assert run["status"] == ("failed" if case.verdict.error else "finished"), case.name


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("protocol", TREES)
async def test_a_tree_of_one_node_has_the_verdict(open_server, llm, tmp_path, protocol, stream):
    server = await open_server(served(tmp_path, llm.url, answering(), kind=TREES[protocol]))
    for case in (case for case in CHOSEN if case.protocol == protocol):
        llm.queue(body_of(case))
        asked = hello(stream=stream, stream_options={"include_usage": True}) if stream else hello()
        check_client(case, await server.ask("POST", CHAT, asked), stream=stream, thinks=False)


@pytest.mark.parametrize("protocol", TREES)
async def test_a_node_before_the_answer_has_the_verdict(open_server, llm, tmp_path, protocol):
    last = answering(systemPrompt="Say it.", prompt="It was: {agent1Output}!")
    server = await open_server(served(tmp_path, llm.url, before(), last, kind=TREES[protocol]))
    now: list[Answer] = []
    llm.rule(lambda asked: BEFORE in asked.prompt, lambda asked: now[0])
    for case in (case for case in CHOSEN if case.protocol == protocol):
        now[:] = [body_of(case)]
        llm.requests.clear()
        answer = await server.ask("POST", CHAT, hello())
        if case.verdict.error:
            check_client(case, answer, stream=False, thinks=False)
            assert len(llm.requests) == 1, case.name
        else:
            assert f"It was: {case.verdict.text.rstrip()}" in _texts(llm.requests[-1]), case.name


def _texts(asked: Asked) -> str:
    body = asked.body
    return str(body.get("prompt") or "") + "\n".join(one["content"] for one in body.get("messages", ()))


@pytest.mark.parametrize("protocol", BUILT_IN)
async def test_memory_has_the_verdict(open_server, llm, protocol):
    settings = {"llm.provider": BUILT_IN[protocol], "llm.ollama_url": llm.url, "embedding.provider": "openai"}
    server = await open_server(asks(llm) | settings)
    for case in (case for case in CHOSEN if case.protocol == protocol):
        llm.default = body_of(case)
        said = {"messages": [{"role": "user", "content": "I live in Graz."}], "user_id": "mira"}
        answer = await server.ask("POST", MEMORIES, said)
        if case.verdict.error:  # of a status of its own, since the model's is not that of this request
            told = orjson.loads(answer.body)
            assert (answer.status in (429, 502, 503), told["code"]) == (True, _CODES[kind_of(case)]), case.name
            assert case.words in told["error"], case.name
        else:  # it was read, and is no list of facts
            assert b"127.0.0.1" not in answer.body, (case.name, answer.body)
        assert (await server.get(f"{MEMORIES}/mira"))["results"] == []


@pytest.mark.parametrize("protocol", BUILT_IN)
async def test_the_test_of_a_connection_has_the_verdict(open_server, llm, protocol):
    server = await open_server(asks(llm) | {"llm.provider": BUILT_IN[protocol], "llm.ollama_url": llm.url})
    for case in (case for case in CHOSEN if case.protocol == protocol):
        llm.default = body_of(case)
        tested = orjson.loads((await server.ask("POST", TEST, None, **OWN)).body)
        assert (tested["ok"], tested["status"]) == (not case.verdict.error, case.verdict.status), case.name
        assert "cannot be reached" not in tested["problem"], case.name


# --- what is left behind by an answer that is an error

ERRORS = [case for case in CASES if case.verdict.error and case.protocol in TREES and case.reach != "reader"]


async def kept_answers(server, session: str) -> list[tuple[str, str | None]]:
    """The answers in a conversation of Mira's, with the reason of their end."""
    answer = await server.ask("GET", f"/api/conversations/{session}/messages?user_id=mira")
    if answer.status == 404:
        return []
    rows = orjson.loads(answer.body)["results"]
    return [(row["content"], row["finish_reason"]) for row in rows if row["role"] == "assistant"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("protocol", [*TREES, "built in"])
async def test_an_error_leaves_an_incomplete_answer_a_failed_run_and_nothing_learned(
    open_server, llm, tmp_path, protocol, stream
):
    remembering = {"title": "Remember", "type": "Remember", "beforeClose": True}
    settings = asks(llm) | {"embedding.provider": "openai"}
    if protocol != "built in":
        settings |= served(tmp_path, llm.url, answering(), remembering, kind=TREES[protocol])
    server = await open_server(settings)
    seen = learn_every_turn(llm)
    now: list[Answer] = []
    llm.rule(lambda asked: bool(now), lambda asked: now[0])
    wanted = "openai-chat" if protocol == "built in" else protocol
    for n, case in enumerate(case for case in ERRORS if case.protocol == wanted):
        now[:] = [body_of(case)]
        said = hello(stream=stream, user="mira", memoryEnabled=True, conversation_id=f"tea-{n}")
        answer = await server.ask("POST", CHAT, said, x_user_id="mira", x_memory="on")
        check_client(case, answer, stream=stream, thinks=True)
        (run, *_) = (await server.get("/api/runs"))["results"]
        assert (run["status"], bool(run["error"])) == ("failed", True), case.name
        assert all(reason == "incomplete" for _, reason in await kept_answers(server, f"tea-{n}")), case.name
        if answer.status == 200:
            async with asyncio.timeout(60):  # it may be kept just behind the end of the stream
                while not (kept := await kept_answers(server, f"tea-{n}")):  # noqa: ASYNC110  # nothing tells when
                    await asyncio.sleep(0)
            ((text, _),) = kept
            assert (text or "").strip() in ("Hi", "Hi you", ""), case.name  # nothing beside pieces of a call
            assert bool(text) is (b'"content":"Hi' in answer.body), case.name
    now.clear()
    await only_the_whole_turn_is_remembered(server, llm, seen)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("protocol", TREES)
async def test_a_backup_is_asked_where_no_word_was_said(open_server, llm, tmp_path, protocol, stream):
    async with ScriptedLLM() as other:
        files = {"Endpoints/Second.json": endpoint(other.url)}
        settings = served(tmp_path, llm.url, kind=TREES[protocol], files=files, backupEndpointName="Second")
        server = await open_server(settings)
        other.default = Answer(text="Good morning.")
        for case in (case for case in ERRORS if case.protocol == protocol):
            llm.queue(body_of(case))
            other.requests.clear()
            answer = await server.ask("POST", CHAT, hello(stream=stream))
            has_word = stream and (b'"content":"Hi' in answer.body or b'"tool_calls"' in answer.body)
            assert len(other.requests) == (0 if has_word else 1), (case.name, answer.body)
            assert (b"error" in answer.body) is has_word, case.name
