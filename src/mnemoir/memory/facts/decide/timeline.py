"""Puts the facts of an add in order of time: what was said before what is stored belongs into the past.

A plan over memories does not know when its facts were said. A fact that would close a memory renewed after it was
said becomes a past state of that memory, and the memory stays. The same holds between the facts of one add.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from operator import itemgetter

from mnemoir.core.clock import from_text, to_text
from mnemoir.core.memories import Memory, Origin
from mnemoir.memory.facts.decide.defences import Plan
from mnemoir.memory.facts.decide.matters import WORK, contradicts, has_one_value, is_known, matter_of
from mnemoir.memory.facts.decide.reconciliation import Candidate, claims
from mnemoir.memory.facts.decide.resemblance import is_part_of
from mnemoir.memory.facts.extract.requests import Statement, undated_in

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True, kw_only=True, eq=False)
class State:
    """A text that is to be stored, and what it does to memories. `said_at` is None for now.

    It is added, or takes the place of the text of `rewrites`; `removes` are closed by it. A state of the past held
    until the memory or the state `past_of` did.
    """

    text: str
    said_at: datetime | None
    rewrites: Memory | None = None
    removes: list[Memory] = field(default_factory=list)
    is_sure: bool = True
    origin: Origin = "user"
    is_suspected: bool = False
    is_unconfirmed: bool = False
    past_of: "Memory | State | None" = None
    undated_in: str | None = None

    @property
    def until(self) -> datetime | None:
        """The end of a state of the past; None for now."""
        if isinstance(self.past_of, Memory):
            is_sibling = undated_in(self.past_of.metadata) == self.undated_in
            return _told_next(self.past_of, self.said_at if self.undated_in is None or is_sibling else _LONG_AGO)
        return self.past_of.said_at if self.past_of else None

    @property
    def since(self) -> datetime | None:
        """When it was said, but not after its end, as nothing else is known of one without a time; None for now."""
        until = self.until
        return self.said_at if self.said_at is None or until is None else min(self.said_at, until)

    def is_before(self, memory: Memory) -> bool:
        """Whether it was said before the memory was told or confirmed."""
        return is_late(self.said_at, memory, self.undated_in)

    @property
    def successor(self) -> "Memory | State":
        """What is current of the states that followed it; the state itself when it is."""
        state: Memory | State = self
        while isinstance(state, State) and state.past_of:
            state = state.past_of
        return state


def in_time(
    plan: Plan, candidates: Sequence[Candidate], facts: Sequence[Statement], *, is_past: bool = False
) -> list[State]:
    """The texts that the plan stores, as states in order of time, those of now last.

    A fuller wording of a memory that was told after it takes its place; with `is_past` it is added beside it.
    """
    memories = [candidate.memory for candidate in candidates]
    adds = [_state(text, facts) for text in plan.adds]
    for at in plan.unsure:
        adds[at].is_sure = False
    for at in plan.unconfirmed:
        adds[at].is_unconfirmed = True
    updates = [_state(text, facts, memories[at]) for at, text in plan.updates]
    for at, add in plan.removes:
        if adds or updates:  # of one that several texts replace, the last one
            (adds[add] if add is not None else [*adds, *updates][-1]).removes.append(memories[at])
    now = datetime.max.replace(tzinfo=UTC)
    states = sorted([*adds, *updates], key=lambda state: state.said_at or now)
    for state in states:
        _put_beside_memory(state, facts, is_past=is_past)
        _put_behind_memories(state)
    closed = {memory.id for state in states for memory in (state.rewrites, *state.removes) if memory}
    standing = [memory for memory in memories if memory.id not in closed]
    for state in states:
        later = (each for each in standing if state.is_before(each) and contradicts(state.text, each.text))
        if state.rewrites is None:
            state.past_of = state.past_of or next(later, None)
    for state in states:
        _put_behind_states(state, states)
    return states


def is_late(said_at: datetime | None, memory: Memory, undated: str | None = None) -> bool:
    """True when the memory was told or confirmed after `said_at`.

    What an import had no time for counts as said before all but what else the same import had no time for.
    """
    if undated is not None and undated_in(memory.metadata) != undated:
        return True
    return _is_before(said_at, _renewed_at(memory))


def behind_newer(fresh: Sequence[Memory], stored: Sequence[Memory]) -> list[Memory]:
    """The memories to import, in order; one that a newer fact contradicts held until that was said.

    Only values of attributes that have one are compared, each with the others of its attribute.
    """
    told: dict[str, list[Memory]] = defaultdict(list)
    slots = {memory.id: slot for memory in (*stored, *fresh) if (slot := _slot(memory))}
    for memory in (*stored, *fresh):
        if memory.id in slots:
            told[slots[memory.id]].append(memory)
    rivals = {slot: _Rivals(memories) for slot, memories in told.items()}
    return [rivals[slots[memory.id]].put_behind(memory) if memory.id in slots else memory for memory in fresh]


def _slot(memory: Memory) -> str:
    """The attribute that has one value at a time and gets one by this current fact; "" for none.

    Of several jobs in an import nobody knows which ended.
    """
    is_rival = memory.kind == "fact" and memory.valid_to is None and has_one_value(memory.text)
    slot = matter_of(memory.text).slot if is_rival else ""
    return "" if slot in WORK else slot


class _Rivals:
    """Values of one attribute by the times at which they were told."""

    def __init__(self, memories: Sequence[Memory]) -> None:
        times = [(memory, from_text(memory.created_at), _renewed_at(memory)) for memory in memories]
        created = [(told, memory) for memory, told, _ in times if told]
        confirmed = [(again, memory) for memory, told, again in times if told and again and told < again]
        self._told = [sorted(each, key=itemgetter(0)) for each in (created, confirmed)]

    def put_behind(self, memory: Memory) -> Memory:
        """The memory; as a past one, if what was told next contradicts it."""
        said_at = _renewed_at(memory)
        if said_at is None:
            return memory
        found = [first for told in self._told if (first := _first_against(memory.text, told, said_at))]
        if not found:
            return memory
        until, newer = min(found, key=itemgetter(0))
        return replace(memory, valid_to=to_text(until), replaced_by=newer.id)


def _first_against(
    text: str, told: Sequence[tuple[datetime, Memory]], said_at: datetime
) -> tuple[datetime, Memory] | None:
    """The first memory told after `said_at` that contradicts the text, with its time; `told` is in order of time."""
    harmless: set[str] = set()
    for place in range(bisect_right(told, said_at, key=itemgetter(0)), len(told)):
        newer = told[place][1].text
        if newer not in harmless and contradicts(newer, text):
            return told[place]
        harmless.add(newer)
    return None


def _told_next(memory: Memory, said_at: datetime | None) -> datetime | None:
    """When the memory was told or confirmed for the first time after `said_at`."""
    created = from_text(memory.created_at)
    return created if _is_before(said_at, created) else _renewed_at(memory)


def _put_beside_memory(state: State, facts: Sequence[Statement], *, is_past: bool) -> None:
    """Let a state of the past change no later memory; it says what was said, not what a model made of both."""
    rewritten = state.rewrites
    if not is_past or rewritten is None or not state.is_before(rewritten):
        return
    behind = [facts[at] for at in claims(state.text, [fact.text for fact in facts])]
    if len(behind) == 1:
        state.text = behind[0].text
    if _says_more(state.text, rewritten.text) and not contradicts(state.text, rewritten.text):
        state.rewrites = None
    else:
        state.rewrites, state.past_of = None, rewritten


def _put_behind_memories(state: State) -> None:
    """Make the state a past one where it was said before a memory that it would close."""
    rewritten = state.rewrites
    if rewritten and state.is_before(rewritten) and not _says_more(state.text, rewritten.text):
        state.rewrites, state.past_of = None, rewritten
    later = [memory for memory in state.removes if state.is_before(memory)]
    state.removes = [memory for memory in state.removes if memory not in later]
    state.past_of = state.past_of or next(iter(later), None)


def _put_behind_states(state: State, states: Sequence[State]) -> None:
    """Make the state a past one where a state said later contradicts it; that one closes what it did."""
    newer = [
        other
        for other in states
        if other.past_of is None and not other.is_unconfirmed and (other.is_sure or not state.is_sure)
        if _is_before(state.said_at, other.said_at, unknown_is_now=True)
        if contradicts(other.text, state.text)
    ]
    if state.past_of is not None or not newer:
        return
    first = min(newer, key=lambda other: (other.said_at is None, other.said_at))
    state.past_of = first
    if first.rewrites is None:
        first.rewrites, state.rewrites = state.rewrites, None
    first.removes += [memory for memory in (state.rewrites, *state.removes) if memory]
    state.rewrites, state.removes = None, []


def _says_more(text: str, stored: str) -> bool:
    return is_part_of(stored, text) or is_known(stored, text)


def _state(text: str, facts: Sequence[Statement], rewrites: Memory | None = None) -> State:
    """The text as a state from when the last of the facts behind it was said."""
    behind = [facts[at] for at in claims(text, [fact.text for fact in facts])]
    is_sure = all(fact.is_sure for fact in behind)
    is_users = not behind or any(fact.origin == "user" for fact in behind)
    origin = "user" if is_users else behind[0].origin
    undated = next((fact.undated_in for fact in behind or facts), None)
    return State(
        text=text,
        said_at=latest_of(behind),
        rewrites=rewrites,
        is_sure=is_sure,
        origin=origin,
        undated_in=undated,
    )


def latest_of(facts: Sequence[Statement]) -> datetime | None:
    """When the last of the facts was said; None when one of them was said now, or of none."""
    times = [fact.said_at for fact in facts]
    known = [time for time in times if time is not None]
    return max(known) if known and len(known) == len(times) else None


def _renewed_at(memory: Memory) -> datetime | None:
    return from_text(memory.updated_at) or from_text(memory.created_at)


def _is_before(one: datetime | None, other: datetime | None, *, unknown_is_now: bool = False) -> bool:
    return one is not None and (unknown_is_now if other is None else one < other)
