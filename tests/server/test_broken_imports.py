"""Broken files of other programs over HTTP: they are imported or refused in words, and never an error of ours."""

import random

import pytest

from tests.conversations.foreign_files import FILES, broken, written

TRIES = 20


@pytest.mark.slow
@pytest.mark.parametrize("program", FILES)
async def test_a_broken_file_is_imported_or_refused_in_words(open_server, program):
    server = await open_server()
    chance = random.Random(f"http {program}")
    for number in range(TRIES):
        file = written(program, broken(FILES[program], chance))
        answer = await server.ask("POST", f"/api/conversations/import?user_id=u{number}", file)
        assert answer.status in (200, 400, 415), (number, file, answer.body)
