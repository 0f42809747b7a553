"""A kept chat with memory runs few statements: each is a round trip where the database is across a network."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

import mnemoir.storage.sql
from mnemoir.storage.sql.engine import queries
from mnemoir.storage.sqlite.transactions import SqliteSql
from tests.server.server_kit import Server, hello

CHATS = 3
QUERIES = Path(mnemoir.storage.sql.__file__).parent / "queries"


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each statement ran in this process, by the name of its file and its own."""
    subjects = [str(file.relative_to(QUERIES).with_suffix("")) for file in QUERIES.rglob("*.sql")]
    names = {query: f"{subject}.{name}" for subject in subjects for name, query in queries(subject).items()}
    counts: Counter[str] = Counter()
    execute, many = SqliteSql._execute, SqliteSql.many

    def execute_and_count(sql, query, values):
        counts[names.get(query, query)] += 1
        return execute(sql, query, values)

    def many_and_count(sql, query, values, /):
        counts[names.get(query, query)] += len(values)
        return many(sql, query, values)

    monkeypatch.setattr(SqliteSql, "_execute", execute_and_count)
    monkeypatch.setattr(SqliteSql, "many", many_and_count)
    return counts


async def chat(server: Server, text: str, ran: Counter[str]) -> None:
    """Say something in a kept conversation, with memory, and wait until nothing of it is left to do."""
    vectors, runs = ran["sessions/vectors.added"], ran["runs/runs.add_tokens"]
    body = hello(messages=[{"role": "user", "content": text}], history="server", conversation_id="tea")
    answer = await server.ask("POST", "/v1/chat/completions", {"memoryEnabled": True, **body})
    assert answer.status == 200
    async with asyncio.timeout(60):
        while (  # noqa: ASYNC110 - nothing tells when the last job has ended
            ran["sessions/vectors.added"] < vectors + 2
            or ran["runs/runs.add_tokens"] == runs
            or ran["jobs.put_job"] > ran["jobs.succeed_job"]
        ):
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("text", "most"), [("How many legs does spider {} have?", 53), ("I like tea number {}.", 71)]
)
async def test_a_kept_chat_runs_few_statements(open_server, ran, text, most):
    server = await open_server()
    await chat(server, text.format(0), ran)
    before = ran.total()
    for number in range(1, CHATS + 1):
        await chat(server, text.format(number), ran)
    assert ran.total() - before <= most * CHATS, ran


async def test_a_job_costs_one_look_for_work(open_server, ran):
    server = await open_server()
    await chat(server, "How many legs does a spider have?", ran)
    looks, jobs = ran["jobs.claim_jobs"], ran["jobs.put_job"]
    for number in range(1, CHATS + 1):
        await chat(server, f"And spider {number}?", ran)
    assert ran["jobs.claim_jobs"] - looks <= ran["jobs.put_job"] - jobs + CHATS


async def test_what_stands_with_former_questions_costs_a_chat_two_statements(open_server, ran):
    server = await open_server()
    memory = {"messages": [{"role": "user", "content": "Keeps a spider"}], "infer": False, "user_id": "user"}
    await server.post("/api/memories", memory)
    for number in range(CHATS):
        await chat(server, f"How many legs does spider {number} have?", ran)
    costs = {name: ran[name] for name in ("memories.current", "sessions/recalled.put_recalled")}
    assert costs == {"memories.current": CHATS, "sessions/recalled.put_recalled": CHATS}
    # what was recalled comes with the uid of the question
    assert (ran["sessions/recalled.questions"], ran["sessions/messages.uid"]) == (CHATS, 0)
