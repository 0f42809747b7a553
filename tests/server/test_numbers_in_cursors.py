"""Cursors hold numbers of rows: those that no database holds, and those of another database, are refused."""

import json
from base64 import urlsafe_b64encode

import pytest

from mnemoir.server.cursors import write_cursor
from tests.server.server_kit import error_of

LISTS = {"changes": "/api/memories/changes", "proposals": "/api/memories/proposals"}


@pytest.mark.parametrize("name", LISTS)
async def test_a_number_beyond_64_bits_is_refused(server, name):
    for number in (2**63, 2**64 - 1, -(2**63) - 1, 10**30):
        target = f"{LISTS[name]}?user_id=mira&cursor={write_cursor_of(f'{name} of sqlite', number)}"
        assert (error_of(await server.ask("GET", target)), number) == ((400, "invalid_cursor"), number)


@pytest.mark.parametrize("name", LISTS)
async def test_a_cursor_of_another_database_is_refused(server, name):
    target = f"{LISTS[name]}?user_id=mira&cursor="
    assert (await server.ask("GET", target + write_cursor(f"{name} of sqlite", 7))).status == 200
    refused = await server.ask("GET", target + write_cursor(f"{name} of postgres", 7))
    assert error_of(refused) == (400, "invalid_cursor")


def write_cursor_of(of: str, number: int) -> str:
    """A cursor, also of a number that `write_cursor` cannot write."""
    text = json.dumps([of, number], separators=(",", ":"))
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")
