"""The keys of an issuer: when they are read, how they change, and what happens while it is away."""

import asyncio
import json
from datetime import timedelta

import pytest
from aiohttp import web

from mnemoir.core.errors import IssuerUnavailable, Unauthorized
from tests.access.issuers.issuer_kit import taking
from tests.scripted_issuer import ScriptedIssuer


async def test_the_first_tokens_after_a_change_of_keys_pass_and_the_old_ones_no_more(view):
    old = view.token()
    await view.take(old)
    view.issuer.rotate("second")
    await asyncio.gather(*(view.take(view.token(jti=str(number))) for number in range(5)))
    assert view.issuer.asked["/keys"] == 2
    with pytest.raises(Unauthorized):
        await view.take(old)


async def test_made_up_names_of_keys_make_the_server_ask_once_in_half_a_minute(view):
    await view.take()
    for round_ in range(2):
        for number in range(20):
            with pytest.raises(Unauthorized):
                await view.take(view.token(headers={"kid": f"{round_}-{number}"}))
        assert view.issuer.asked["/keys"] == 2 + round_
        view.later(seconds=30)


async def test_keys_are_read_again_after_an_hour_and_count_for_a_day_while_the_issuer_is_away(view):
    await view.take()
    view.issuer.is_away = True
    view.later(minutes=59)
    await view.take()
    assert view.issuer.asked["/keys"] == 1
    view.later(hours=22)
    await view.take()
    await view.tokens._each()[0].checker.keys.begin()
    assert view.issuer.asked["/keys"] >= 2
    view.later(hours=1, minutes=1)
    with pytest.raises(IssuerUnavailable):
        await view.take()
    view.issuer.is_away = False
    view.later(seconds=31)
    await view.take()


async def test_a_new_key_while_the_issuer_is_away_is_not_called_wrong(view):
    await view.take()
    view.issuer.is_away = True
    view.issuer.rotate("second", keeps=True)
    for _ in range(2):
        with pytest.raises(IssuerUnavailable):
            await view.take()
    view.issuer.kid = "first"
    await view.take()


BAD_DOCUMENTS = {
    "empty": {"keys": []},
    "no set": {"colour": "blue"},
    "a list": [1, 2],
    "moved": "redirect",
    "too large": {"keys": [{"kty": "x" * 1024 * 1024}]},
    "no JSON": "text",
}


@pytest.mark.parametrize("kind", BAD_DOCUMENTS)
async def test_an_unusable_document_leaves_the_last_keys_in_place(view, kind):
    await view.take()
    said = BAD_DOCUMENTS[kind]
    if said == "redirect":
        said = web.Response(status=302, headers={"location": f"{view.issuer.url}/elsewhere"})
    elif said == "text":
        said = web.Response(text="<html>", status=200)
    view.issuer.documents["/keys"] = said
    with pytest.raises(IssuerUnavailable):
        await view.take(view.token(headers={"kid": "new"}))
    assert view.issuer.asked["/elsewhere"] == 0
    await view.take(view.token(jti="another"))


async def test_keys_come_from_a_file_or_from_what_the_issuer_says_of_itself(tmp_path, issuer):
    file = tmp_path / "keys.json"
    file.write_text(json.dumps(issuer.key_set), encoding="utf-8")
    async with taking(tmp_path / "file", issuer, jwks_url=None, jwks_file=str(file)) as view:
        await view.take()
        issuer.rotate("second")
        file.write_text(json.dumps(issuer.key_set), encoding="utf-8")
        await view.take()
    assert not issuer.asked
    async with taking(tmp_path / "described", issuer, jwks_url=None) as view:
        await view.take()
        issuer.documents["/.well-known/openid-configuration"] = issuer.description | {
            "issuer": "https://evil.example"
        }
        with pytest.raises(IssuerUnavailable):
            await view.take(view.token(headers={"kid": "new"}))
    assert issuer.asked == {"/.well-known/openid-configuration": 2, "/keys": 1}


async def test_keys_are_never_read_without_encryption_from_another_machine(tmp_path, issuer):
    issuer.documents["/.well-known/openid-configuration"] = issuer.description | {"jwks_uri": "http://192.0.2.1/keys"}
    async with taking(tmp_path, issuer, jwks_url=None) as view:
        with pytest.raises(IssuerUnavailable):
            await view.take()


async def test_a_clock_that_is_a_minute_off_refuses_tokens_until_it_is_set(view):
    view.issuer.clock = lambda: view.now + timedelta(minutes=2)
    with pytest.raises(IssuerUnavailable, match="differ by 120 s"):
        await view.take()
    view.issuer.clock = lambda: view.now
    view.later(seconds=30)
    with pytest.raises(IssuerUnavailable):
        await view.take()  # the clock is looked at again behind this one
    await view.tokens._each()[0].checker.keys.begin()
    await view.take()


async def test_two_issuers_are_told_apart_by_their_names(tmp_path, issuer):
    async with ScriptedIssuer() as other, taking(tmp_path, issuer) as view:
        await view.take()
        with pytest.raises(Unauthorized, match="none that this server knows"):
            await view.take(other.token(now=view.now.timestamp()))
