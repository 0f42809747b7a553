"""`mnemoir doctor` on identity providers: each is asked, and what is wrong with it is told in a line."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from mnemoir.cli.diagnosis.checks import check_all
from mnemoir.cli.diagnosis.issuer_checks import issuer_checks
from mnemoir.settings import load_settings
from tests.scripted_issuer import AUDIENCE, ScriptedIssuer


@pytest.fixture
async def issuer():
    async with ScriptedIssuer() as scripted:
        yield scripted


@pytest.fixture
def findings(issuer):
    """What is found of the issuer, as one for tokens and one to sign in with."""

    async def found(**tokens: object) -> list[tuple[str, str, str]]:
        given = {
            "auth.jwt": [{"issuer": issuer.url, "audience": AUDIENCE} | tokens],
            "auth.oidc": [{"id": "home", "name": "Home", "issuer": issuer.url, "client_id": "m"}],
        }
        settings = load_settings(None, given, environ={})
        every = [await check(settings) for check in issuer_checks(settings)]
        return [(one.check, one.state, one.found) for one in every]

    return found


async def test_an_issuer_that_answers_is_told_with_its_keys_and_the_difference_of_the_clocks(findings, issuer):
    issuer.rotate("second", "ES256", keeps=True)
    at_home, tokens = await findings()
    assert at_home[:2] == ("sign-in with Home", "ok")
    assert tokens[:2] == ("tokens", "ok")
    told = re.compile(rf"{issuer.url} answers, 2 keys, clocks differ by \d+ s")  # each asked at its own time
    assert (told.fullmatch(at_home[2]) and told.fullmatch(tokens[2])) is not None


async def test_an_issuer_that_is_away_or_is_another_one_is_named(findings, issuer):
    issuer.is_away = True
    assert {state for _, state, _ in await findings()} == {"fail"}
    issuer.is_away = False
    issuer.documents["/.well-known/openid-configuration"] = issuer.description | {"issuer": "https://other.example"}
    assert {(state, "is of the issuer 'https://other.example'" in found) for _, state, found in await findings()} == {
        ("fail", True)
    }


async def test_an_issuer_that_nobody_can_sign_in_at_is_named(findings, issuer):
    said = issuer.description
    del said["token_endpoint"]
    issuer.documents["/.well-known/openid-configuration"] = said
    at_home, tokens = await findings()
    assert (at_home[1:], tokens[1]) == (("fail", f"The issuer {issuer.url} names no token_endpoint."), "ok")


async def test_keys_that_check_no_token_are_told(findings, issuer):
    _, tokens = await findings(algorithms=["EdDSA"])
    assert tokens[1:] == ("fail", f"{issuer.url} answers, but has no key for EdDSA")


async def test_clocks_that_differ_are_told_in_seconds(findings, issuer):
    issuer.clock = lambda: datetime.now(UTC) - timedelta(hours=1)
    every = await findings()
    assert {(state, "differ by 3600 s" in found or "differ by 3601 s" in found) for _, state, found in every} == {
        ("fail", True)
    }


async def test_all_checks_include_the_issuers(issuer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {
        "storage.data_dir": str(tmp_path / "data"),
        "auth.jwt": [{"issuer": issuer.url, "audience": AUDIENCE}],
    }
    told = [one for one in await check_all(None, given) if one.check == "tokens"]
    assert [one.state for one in told] == ["ok"]
