"""Marks facts that may be instructions to a model; they wait for a person instead of becoming memories.

The rules look at each fact. Of what a tool or a document says they look at the whole text, since a fact drawn from a
text that gives orders is no plain fact. The language model can be asked as well, about facts that the user did not
type; what it withholds an answer about is suspected.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mnemoir.core.errors import ProviderInvalidOutput
from mnemoir.memory.facts.extract.extraction import SUSPECTS, CutOff, Exchange, Question, suspect_policy
from mnemoir.memory.facts.extract.requests import Statement, Turn
from mnemoir.memory.facts.review.instructions import is_suspected
from mnemoir.ports.project_settings import Quarantine

_TOKENS = 500  # of an answer that lists numbers


async def looked_through(exchange: Exchange, facts: Sequence[Statement], by: Quarantine) -> list[Statement]:
    """The facts, those marked that may be instructions."""
    if by == "off":
        return [replace(fact, is_suspected=False) for fact in facts]
    marked = await asyncio.to_thread(lambda: [_with_suspicion(fact) for fact in facts])
    return marked if by == "rules" or exchange.is_offline else await _ask_model(exchange, marked)


def gives_orders(turn: Turn) -> bool:
    """True when a tool's or document's text may hold an instruction."""
    return is_suspected(turn.text, turn.origin)


def _with_suspicion(fact: Statement) -> Statement:
    return replace(fact, is_suspected=fact.is_suspected or is_suspected(fact.text, fact.origin, is_sure=fact.is_sure))


async def _ask_model(exchange: Exchange, facts: Sequence[Statement]) -> list[Statement]:
    foreign = [
        at for at, fact in enumerate(facts) if not fact.is_suspected and (fact.origin != "user" or not fact.is_sure)
    ]
    if not foreign:
        return list(facts)
    document = {"statements": {str(number): facts[at].text for number, at in enumerate(foreign)}}
    try:
        question = Question(policy=suspect_policy(), document=document, output=SUSPECTS)
        found = await exchange.ask(question, _numbers, tokens=_TOKENS)
    except (ProviderInvalidOutput, CutOff):
        found = None
    suspected = {at for number, at in enumerate(foreign) if found is None or number in found}
    return [replace(fact, is_suspected=fact.is_suspected or at in suspected) for at, fact in enumerate(facts)]


def _numbers(values: Sequence[Any]) -> frozenset[int] | None:
    lists = [value.get("suspected") for value in values if isinstance(value, Mapping)]
    known = [listed for listed in lists if isinstance(listed, list)]
    return frozenset(int(each) for listed in known for each in listed if str(each).isdecimal()) if known else None
