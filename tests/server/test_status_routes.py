"""`/api/status`: how the server is, told without a call of a model, and what is wrong with the next step."""

import asyncio
from urllib.parse import urlsplit

from mnemoir.core.errors import InvalidRequest
from mnemoir.models.latencies import MINUTES
from tests.scripted_llm import Answer, failure
from tests.server.server_kit import asks, error_of, hello


async def chat(server, **more) -> None:
    await server.post("/v1/chat/completions", hello(memoryEnabled=True, session_id="tea", **more))


async def test_a_fresh_server_is_well_but_for_the_missing_model(server):
    status = await server.get("/api/status")
    assert status["model"]["provider"] == "offline"
    assert [(remark["about"], remark["state"]) for remark in status["remarks"]] == [("model", "warn")]
    assert status["embedder"]["connected"]["state"] == "ok"
    assert status["room"]["writable"]
    assert status["counts"]["memories"] == 0


async def test_what_is_kept_is_counted(open_server, llm):
    server = await open_server(asks(llm))
    llm.reply("Good morning.")
    await chat(server)
    said = {"messages": [{"role": "user", "content": "Rows"}], "user_id": "mira", "infer": False}
    await server.post("/api/memories", said)
    counts = (await server.get("/api/status"))["counts"]
    told = [counts[name] for name in ("projects", "users", "memories", "conversations", "messages", "runs")]
    assert told == [1, 1, 1, 1, 2, 1]


async def test_what_was_added_is_told_by_day(open_server, llm):
    server = await open_server(asks(llm))
    llm.queue(Answer(text="Good morning.", usage=(11, 4)))
    await chat(server)
    said = {"messages": [{"role": "user", "content": "Rows"}], "user_id": "mira", "infer": False}
    await server.post("/api/memories", said)
    while None in (days := (await server.get("/api/status/growth"))["days"])[-1].values():
        assert days
    assert [day["day"] for day in days] == sorted({day["day"] for day in days})
    told = [sum(day[name] for day in days) for name in ("memories", "messages", "input_tokens", "output_tokens")]
    assert (len(days), told) == (30, [1, 2, 11, 4])


async def test_without_runs_and_messages_each_day_has_none(open_server):
    server = await open_server({"runs.enabled": False})
    while None in (days := (await server.get("/api/status/growth"))["days"])[-1].values():
        assert days
    assert {name: sum(day[name] for day in days) for name in days[0] if name != "day"} == {
        "memories": 0,
        "messages": 0,
        "input_tokens": 0,
        "output_tokens": 0,
    }


async def test_growth_that_cannot_be_counted_says_why(server):
    await server.parts.memory.store.aclose()
    await server.parts.memory.database.aclose()
    assert error_of(await server.ask("GET", "/api/status/growth")) == (503, "storage_unavailable")


async def test_looking_calls_no_model_and_asks_its_server_once(open_server, llm):
    server = await open_server(asks(llm))
    for _ in range(3):
        status = await server.get("/api/status")
    assert status["model"]["connected"]["state"] == "ok"
    assert [asked.path for asked in llm.requests] == ["/v1/models"]
    assert status["model"]["answered_at"] is None


async def test_a_call_that_failed_is_told_until_one_succeeds(open_server, llm):
    server = await open_server(asks(llm))
    llm.queue(failure(500))
    await server.ask("POST", "/v1/chat/completions", hello())
    model = (await server.get("/api/status"))["model"]
    assert model["failed_at"] is not None
    assert "500" in model["error"]
    assert "last call" in (await server.get("/api/status"))["remarks"][0]["found"]
    await server.post("/v1/chat/completions", hello())
    status = await server.get("/api/status")
    assert status["model"]["answered_at"] > status["model"]["failed_at"]
    assert status["remarks"] == []


async def test_a_model_that_went_away_and_came_back_is_noticed_by_a_check(open_server, llm):
    server = await open_server(asks(llm))
    assert (await server.post("/api/status/check", {}))["model"]["connected"]["state"] == "ok"
    port = urlsplit(llm.url).port
    await llm.stop()
    gone = await server.post("/api/status/check", {})
    assert gone["model"]["connected"]["state"] == "fail"
    assert gone["remarks"][0]["to_do"]
    await llm.start(port)
    assert (await server.post("/api/status/check", {}))["model"]["connected"]["state"] == "ok"


async def test_recalls_and_writes_are_timed(open_server, llm):
    server = await open_server(asks(llm))
    llm.reply("Good morning.")
    await chat(server)
    said = {"messages": [{"role": "user", "content": "Rows"}], "user_id": "mira", "infer": False}
    await server.post("/api/memories", said)
    await server.post("/v1/chat/completions", hello())  # without memory, nothing waits for any
    latency = (await server.get("/api/status"))["latency"]
    assert [latency[kind]["hour"]["count"] for kind in ("recall", "write")] == [1, 1]
    for span, steps in (("hour", 60), ("day", MINUTES // 15)):
        series = await server.get(f"/api/status/latencies?span={span}")
        assert [len(series["recall"]), len(series["write"])] == [steps, steps]
        [recalled] = [step for step in series["recall"] if step["count"]]  # the minute may be over by now
        assert recalled["count"] == 1
        assert recalled["p50_ms"] > 0
    assert error_of(await server.ask("GET", "/api/status/latencies?span=year"))[0] == 422


async def test_jobs_are_told_until_they_are_done(open_server, llm):
    server = await open_server(asks(llm))
    await server.parts.upkeep.jobs.put("evt_1", "no such kind", {})
    while (jobs := (await server.get("/api/status"))["work"]["jobs"]) != [
        {"kind": "no such kind", "waiting": 0, "running": 0, "failed": 1}
    ]:
        assert jobs
        server.parts.upkeep.background._woken.set()
        await asyncio.sleep(0.01)
    assert "given up" in (await server.get("/api/status"))["remarks"][0]["found"]


async def test_a_job_that_was_given_up_is_listed_with_its_error_and_can_be_retried(open_server, llm):
    server = await open_server(asks(llm))
    known: list[str] = []

    async def handler(job):
        if not known:
            raise InvalidRequest("Nobody knows that word.")
        done.set()
        return {}

    done = asyncio.Event()
    server.parts.upkeep.background.handle("odd", handler)
    await server.parts.upkeep.background.put("odd", {}, job_id="evt_1")
    while not (jobs := (await server.get("/api/status/jobs"))["results"]):
        assert jobs == []
    (job,) = jobs
    assert (job["id"], job["kind"], job["attempts"]) == ("evt_1", "odd", 1)
    assert job["error"] == "Nobody knows that word."
    known.append("that word")
    assert (await server.ask("POST", "/api/status/jobs/evt_1/retry")).status == 202
    async with asyncio.timeout(60):
        await done.wait()
    assert (await server.get("/api/status/jobs"))["results"] == []
    assert error_of(await server.ask("POST", "/api/status/jobs/evt_1/retry"))[:2] == (404, "job_not_found")


async def test_an_operator_who_sees_no_contents_sees_no_errors_of_jobs(open_server, llm):
    server = await open_server(asks(llm))
    await server.parts.upkeep.jobs.put("evt_1", "no such kind", {"user": "mira"})
    server.parts.upkeep.background._woken.set()
    key = {"x_api_key": server.parts.access.api_keys.create(role="operator", by="test")[1]}
    while not (jobs := (await server.get("/api/status/jobs", **key))["results"]):
        server.parts.upkeep.background._woken.set()
        await asyncio.sleep(0.01)
    assert [job["error"] for job in jobs] == [None]


async def test_storage_that_fails_is_told_and_fails_nothing(server):
    await server.parts.memory.store.aclose()
    await server.parts.memory.database.aclose()
    status = await server.get("/api/status")
    assert status["storage_problem"]
    assert status["counts"]["memories"] is None
    assert "fail" in [remark["state"] for remark in status["remarks"]]


async def test_no_secret_is_told(open_server, llm):
    server = await open_server(asks(llm), api_keys=["key-canary-of-16"])
    held = {"authorization": "Bearer key-canary-of-16"}
    llm.queue(failure(401, "The key sk-canary-3141592653 is wrong."))
    await server.ask("POST", "/v1/chat/completions", hello(), **held)
    for path in ("/api/status", "/api/status/latencies", "/api/status/growth", "/api/clients"):
        answer = await server.ask("GET", path, **held)
        assert answer.status == 200
        assert b"canary" not in answer.body
        assert error_of(await server.ask("GET", path))[0] == 401
    assert (await server.get("/api/status", **held))["model"]["error"]


async def test_a_workspace_that_is_not_made_yet_is_no_trouble(open_server, tmp_path):
    server = await open_server(
        {"storage.backend": "file", "storage.workspace_root": str(tmp_path / "far" / "workspace")}
    )
    assert (await server.ask("GET", "/health")).status == 200
    assert (await server.get("/api/status"))["room"]["writable"]
    assert not (tmp_path / "far").exists()
