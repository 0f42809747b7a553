"""A chat that a client sends again with the same key, while the first is still being answered."""

import asyncio

from tests.server.server_kit import asks, error_of, hello

CHAT = "/v1/chat/completions"


async def test_a_chat_sent_again_under_its_key_is_refused_while_the_first_runs_and_runs_again_later(listen, llm):
    server = await listen(asks(llm))
    llm.reply("One two", stall_after=1)
    first = asyncio.create_task(server.ask("POST", CHAT, hello(stream=True), X_Idempotency_Key="k-1"))
    await llm.arrived.wait()
    again = await server.ask("POST", CHAT, hello(), X_Idempotency_Key="k-1")
    other = await server.ask("POST", CHAT, hello(), X_Idempotency_Key="k-1", X_User_Id="somebody-else")
    llm.release()
    assert error_of(again) == (409, "conflict")
    assert [other.status, (await first).status] == [200, 200]
    assert (await server.ask("POST", CHAT, hello(), X_Idempotency_Key="k-1")).status == 200


async def test_a_key_that_is_too_long_is_refused(listen, llm):
    server = await listen(asks(llm))
    assert error_of(await server.ask("POST", CHAT, hello(), X_Idempotency_Key="k" * 129)) == (400, "invalid_request")
    assert llm.requests == []
