"""Texts come back as they went in, whatever signs of a query's grammar they hold; U+0000 alone becomes U+FFFD."""

from dataclasses import replace
from typing import Any

import pytest

from mnemoir.core.clock import to_text
from mnemoir.core.ids import JobId, ProposalId
from mnemoir.core.memories import Applied, Provenance, SourceTurn
from mnemoir.core.proposals import Proposal, QueueStep
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import Receipt
from mnemoir.ports.project_settings import ProjectSettings
from mnemoir.storage.sql import SqlJobQueue, SqlMemoryStore, SqlProjectSettings, SqlProposals
from mnemoir.storage.sql.holds import Hold, Holds
from tests.contracts.words import ASKED, DEMO, MIRA, NOW, fact, keep, message, rewrite, texts

ODD = "50 % _ : { ' \\ $1 %s %(name)s :name ? \" }"
THREE_LONG_NAMES = {name: chr(0x1F300 + place) * 256 for place, name in enumerate(("agent", "app", "conversation"))}


async def test_every_text_field_comes_back_as_it_went_in(engine, clock):
    scope = Scope(project="demo", user=ODD, agent=ODD, app=ODD, conversation=ODD)
    odd: dict[str, Any] = {"user": ODD, "metadata": {ODD: [ODD]}, "extra": {ODD: ODD}}
    add, said = fact(ODD, scope=scope, **odd), message(ODD, scope=scope, role=ODD, speaker=ODD, **odd)
    turn = SourceTurn(role=ODD, text=ODD, speaker=ODD, message_uid=ODD)
    origin = Provenance(reason=ODD, model=ODD, turns=[turn], session=ODD)
    store, waiting = SqlMemoryStore(engine, clock), fact(ODD, scope=scope, **odd).memory
    proposal = Proposal(
        id=ProposalId(ODD), event="ADD", memory=waiting, reason=ODD, proposed_at=to_text(NOW), model=ODD, session=ODD
    )
    receipt = Receipt(key=ODD, request_hash=ODD)
    step = QueueStep(proposed=[proposal])
    both = [Applied(event="ADD", memory=one.memory) for one in (add, said)]
    assert await store.commit(scope, [add, said], origin, receipt=receipt, queue=step) == both
    again = await store.redeem(scope, ODD)
    assert again is not None
    assert list(again.applied) == both
    assert [await store.get(scope, one.memory.id) for one in (add, said)] == [add.memory, said.memory]
    assert await texts(store, scope) == [ODD, ODD]
    (event,) = await store.history(scope, add.memory.id)
    assert (event.new_text, event.model, list(event.turns), event.session) == (ODD, ODD, [turn], ODD)
    (kept,) = await SqlProposals(engine, clock).all(scope)
    assert (kept.memory.text, kept.memory.metadata, kept.reason, kept.session) == (ODD, {ODD: [ODD]}, ODD, ODD)


async def test_texts_of_jobs_holds_and_settings_come_back_as_they_went_in(engine, clock):
    jobs, holds, settings = SqlJobQueue(engine, clock), Holds(engine), SqlProjectSettings(engine)
    await jobs.put(JobId(ODD), ODD, {ODD: ODD}, queue=ODD)
    job = await jobs.claim(ODD, 60)
    assert job is not None
    assert (job.id, job.kind, job.payload) == (ODD, ODD, {ODD: ODD})
    await jobs.fail(job, ODD)
    assert [each.error for each in await jobs.failed_jobs(limit=5)] == [ODD]
    await holds.put(Hold(tenant=ODD, user=ODD, reason=ODD, set_at=ODD, set_by=ODD))
    assert await holds.all() == [Hold(tenant=ODD, user=ODD, reason=ODD, set_at=ODD, set_by=ODD)]
    own = ProjectSettings(extraction_prompt=ODD, time_zone=ODD)
    await settings.change(DEMO, lambda _: own)
    assert await SqlProjectSettings(engine).load(DEMO) == own


async def test_a_text_with_a_zero_gets_a_sign_in_its_place(store):
    add = message("a\0b", speaker="Mi\0ra")
    (applied,) = await store.commit(MIRA, [add], ASKED)
    assert applied.memory == replace(add.memory, text="a\ufffdb", speaker="Mi\ufffdra")
    assert await store.get(MIRA, add.memory.id) == applied.memory


async def test_a_text_that_is_changed_to_one_with_a_zero_gets_a_sign_in_its_place(store):
    (tea,) = await keep(store, fact("Likes tea"))
    await store.commit(MIRA, [rewrite(tea, "Likes\0rum")], ASKED)
    assert await texts(store) == ["Likes\ufffdrum"]


async def test_other_texts_with_a_zero_get_a_sign_in_its_place(engine, clock):
    jobs, holds, settings = SqlJobQueue(engine, clock), Holds(engine), SqlProjectSettings(engine)
    await jobs.put(JobId("j1"), "tea", {"a\0b": "\0"})
    job = await jobs.claim("w", 60)
    assert job is not None
    await jobs.fail(job, "a\0b")
    failed = await jobs.failed_jobs(limit=5)
    assert [(each.payload, each.error) for each in failed] == [({"a\0b": "\0"}, "a\ufffdb")]
    await holds.put(Hold(tenant="t", user="u", reason="a\0b", set_at="", set_by=""))
    assert [hold.reason for hold in await holds.all()] == ["a\ufffdb"]
    await settings.change(DEMO, lambda _: ProjectSettings(extraction_prompt="a\0b"))
    assert (await SqlProjectSettings(engine).load(DEMO)).extraction_prompt == "a\ufffdb"


@pytest.mark.usefixtures("past_states")
async def test_three_names_of_the_longest_size_are_stored_together(store):
    scope = replace(MIRA, **THREE_LONG_NAMES)
    (stored,) = await keep(store, fact("Likes tea", scope=scope), scope=scope)
    assert await store.get(scope, stored.id) == stored
