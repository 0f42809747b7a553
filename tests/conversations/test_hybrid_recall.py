"""Fifty questions over 150 messages with the built-in model: words and meaning together find more than either."""

import asyncio
from collections.abc import Iterator

import pytest

from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.search.embedding import ModelEmbeddingClient
from mnemoir.core.conversations import Message
from mnemoir.providers.embedding.minilm_model import MiniLM
from tests.conversations.search_kit import manager

_FAILURES = [
    f"the nightly job stopped with error E{4000 + 37 * n} in {name}_{n}.py"
    for n in range(25)
    for name in ("load", "save")
]
_IDENTIFIERS = [*(f"E{4000 + 37 * n}" for n in range(0, 25, 2)), *(f"save_{n}.py" for n in range(1, 25, 2))]
_SAID = {
    "I moved to Lisbon last spring because of the light": "Which city does she live in now?",
    "My sister Ana is allergic to peanuts": "What food must we avoid for Ana?",
    "We settled on PostgreSQL for the new service": "Which database did we choose?",
    "The dentist is on Thursday at half past nine": "When do I have to see the dentist?",
    "I play the cello in a small orchestra": "What musical instrument do I play?",
    "Our dog Bruno is a border collie": "What breed is our pet?",
    "The rent goes up to 950 euros in March": "How much will the flat cost?",
    "I gave up coffee and drink green tea in the morning": "What do I have for a hot drink at breakfast?",
    "Tom's birthday party will be in the botanical garden": "Where do we celebrate Tom?",
    "The car broke down on the motorway near Lyon": "What happened to our vehicle?",
    "I would rather sit at the window on long flights": "Which seat do I prefer on a plane?",
    "Grandma taught me to bake sourdough bread": "Who showed me how to make bread?",
    "The wifi password hangs behind the kitchen door": "Where is the internet password written?",
    "I am reading a novel about whales": "What book is on my bedside table?",
    "We decided to cancel the gym membership": "Are we still paying for the fitness club?",
    "My knee hurts whenever I run downhill": "Which injury do I have from jogging?",
    "The kids start school again on the first of September": "When are the summer holidays over?",
    "I paid the electricity bill with the joint account": "How was the power company paid?",
    "Marta got the job at the museum": "Where does Marta work?",
    "The flight to Oslo leaves from terminal two": "From which terminal do we travel to Norway?",
    "I take a vitamin D pill every evening": "Which supplement do I use?",
    "Our wedding was on a boat in Stockholm": "Where did we get married?",
    "I cannot stand coriander in soup": "Which herb do I dislike?",
    "The plumber fixed the leak under the sink": "Who repaired the water pipe?",
    "We adopted two kittens from the shelter": "How many cats do we have?",
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryManager]:
    model = MiniLM()
    small_talk = [f"thanks, talk to you on day {number}" for number in range(75)]
    with manager(tmp_path_factory.mktemp("hybrid"), ModelEmbeddingClient(model)) as opened:
        for number, text in enumerate([*_FAILURES, *_SAID, *small_talk]):
            opened.storage.open_session(str(number))
            opened.save_messages(str(number), [Message("user", text)])
        yield opened
    asyncio.run(model.aclose())


def _found(memory: MemoryManager, query: str, limit: int, alpha: float | None) -> list[str]:
    return [hit.message.text for hit in asyncio.run(memory.search_hybrid(query, limit, alpha=alpha))]


def _is_answer(text: str, query: str) -> bool:
    return _SAID.get(text) == query or (query in _IDENTIFIERS and query in text)


def _recall(memory: MemoryManager, alpha: float | None) -> float:
    shares = []
    for query in (*_IDENTIFIERS, *_SAID.values()):
        answers = [text for text in (*_FAILURES, *_SAID) if _is_answer(text, query)]
        found = _found(memory, query, 5, alpha)
        shares.append(sum(text in found for text in answers) / len(answers))
    return sum(shares) / len(shares)


@pytest.mark.slow
def test_an_identifier_is_found_at_the_first_place_where_meaning_alone_misses_it(memory: MemoryManager) -> None:
    missed = [query for query in _IDENTIFIERS if query not in _found(memory, query, 1, 1.0)[0]]
    assert missed
    assert [query for query in _IDENTIFIERS if query not in _found(memory, query, 1, None)[0]] == []


@pytest.mark.slow
def test_both_together_find_no_less_than_either_alone(memory: MemoryManager) -> None:
    both, words, meaning = (_recall(memory, alpha) for alpha in (None, 0.0, 1.0))
    assert len(_IDENTIFIERS) + len(_SAID) == 50
    assert both >= max(words, meaning)
    assert both >= 0.9
