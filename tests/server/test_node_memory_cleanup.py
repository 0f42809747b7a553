"""Node memories that nobody reads any more are removed over REST, and no others."""

import os
import time

import pytest

from mnemoir.conversations.nodes.keys import node_key
from mnemoir.storage.objects.local import LocalObjects
from tests.server.conversation_targets import at, begin, own_project, shared_server
from tests.server.server_kit import error_of

pytestmark = pytest.mark.asyncio(loop_scope="module")
everyones, server = shared_server(), own_project()

CLEANUP = at("/node-memory/cleanup")
LONG_AGO_S = time.time() - 90 * 24 * 3600


@pytest.fixture
async def objects(server) -> LocalObjects:
    """Node memories of a conversation that is there and of one that is not; half of each are three months old."""
    await begin(server, "there", "hello")
    store = LocalObjects(server.folder() / "objects")
    for conversation in ("there", "gone"):
        for node in ("old", "new"):
            store.save(node_key("app", conversation, node), b'{"version": 1, "messages": []}')
    for conversation in ("there", "gone"):
        path = server.folder() / "objects" / node_key("app", conversation, "old")
        os.utime(path, (LONG_AGO_S, LONG_AGO_S))
    return store


def kept(objects: LocalObjects) -> set[str]:
    return {"/".join(entry.key.split("/")[2:]).removesuffix(".json") for entry in objects.scan("node_memory/")}


async def test_those_of_conversations_that_are_gone_are_removed(server, objects):
    done = await server.post(CLEANUP, {})
    assert (done["success"], done["deleted"], done["failed"]) == (True, 2, 0)
    assert kept(objects) == {"there/old", "there/new"}
    assert (await server.post(CLEANUP, {}))["deleted"] == 0


@pytest.mark.usefixtures("trusted_clock")
async def test_with_an_age_old_ones_go_too(server, objects):
    assert (await server.post(CLEANUP, {"older_than_days": 30}))["deleted"] == 3
    assert kept(objects) == {"there/new"}


async def test_a_dry_run_removes_nothing_and_tells_the_same(server, objects):
    planned = await server.post(CLEANUP, {"older_than_days": 30, "dry_run": True})
    assert (planned["deleted"], planned["message"]) == (3, "Would delete 3 node memories, kept 1")
    assert len(kept(objects)) == 4


async def test_another_users_are_left_alone_and_nobody_gets_a_folder(server, objects):
    assert (await server.post(at("/node-memory/cleanup", user_id="otto"), {}))["deleted"] == 0
    assert len(kept(objects)) == 4
    assert not server.folder("otto").exists()


@pytest.mark.parametrize("days", [-1, True, "1", 1.5, 10**30, []])
async def test_an_age_is_a_whole_number_of_days(server, days):
    refused = await server.ask("POST", CLEANUP, {"older_than_days": days})
    assert error_of(refused) == (422, "validation_error")
    assert b"older_than_days" in refused.body
