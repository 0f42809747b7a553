"""Which recalled lines stand in front of which questions of a conversation.

What was recalled for a question stays with it, so that a request begins with all of the one before. Each line is said
once where that will do: of what fits a new question a little may be said again, of what is merely given nothing.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field

from mnemoir.core.messages import Message, with_text_in_front
from mnemoir.core.text import FURTHER, INTRODUCTION, RecalledLine, put_up, tokens_of
from mnemoir.ports.recalled import KeptRecall, Reference

_MOST_FITTING = 5  # lines in front of a new question that fit it
_MOST_AGAIN = 2  # of these, lines that stand already in front of a former one
_NEVER_TOO_MANY = 256  # tokens: no context is so small that it would be asked for


@dataclass(slots=True, kw_only=True)
class Front:
    """The lines in front of the messages of a request.

    `place` is the index of the newest question, None without one, and `lines` are its own; `former` are those of the
    questions before it, by their index.
    """

    place: int | None = None
    lines: Sequence[RecalledLine] = ()
    former: dict[int, Sequence[RecalledLine]] = field(default_factory=dict)

    @property
    def former_lines(self) -> list[RecalledLine]:
        """The lines of all former questions, in order."""
        return [line for place in sorted(self.former) for line in self.former[place]]

    def put_before(self, messages: Sequence[Message]) -> list[Message]:
        """The messages with the lines; those without lines are the same objects.

        The first lines of a request have the whole introduction, further ones a short one.
        """
        own = {} if self.place is None else {self.place: self.lines}
        changed, introduction = list(messages), INTRODUCTION
        for place, lines in sorted((self.former | own).items()):
            if lines:
                changed[place] = with_text_in_front(changed[place], put_up(lines, "", introduction))
                introduction = FURTHER
        return changed


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """The questions of a request, as the log knows them.

    `newest` is the index of the newest and `uid` its uid, both None where the log does not know it. `former` are the
    uids of those before it that something was recalled for, by their index. The newest `is_open` while nothing is
    behind it, not even the beginning of an answer.
    """

    newest: int | None
    uid: str | None
    former: Mapping[int, str]
    is_open: bool


def questions_of(messages: Sequence[Message], kept: KeptRecall) -> Questions:
    """The questions among the messages."""
    uids = {place: one.uid for place, one in enumerate(messages) if one.uid is not None}
    newest = next((place for place, uid in reversed(uids.items()) if uid == kept.question), None)
    end = len(messages) if newest is None else newest
    return Questions(
        newest=newest,
        uid=None if newest is None else kept.question,
        former={place: uid for place, uid in uids.items() if uid in kept.known and place < end},
        is_open=not any(one.role in ("assistant", "tool") for one in messages[end + 1 :]),
    )


def lines_of(references: Sequence[Reference], found: Mapping[Reference, RecalledLine]) -> list[RecalledLine]:
    """The lines of references that may be written, in their order."""
    return [found[one] for one in references if one in found]


def lines_for(
    found: Sequence[RecalledLine], said: Sequence[RecalledLine], standing: Collection[RecalledLine], most_tokens: int
) -> list[RecalledLine]:
    """What of the lines found for a new question stands in front of it, in the order given, then what was said.

    The best are chosen first: of those that fit at most five, of which two may stand in the request already. What was
    said and what is merely given follow as far as there are tokens, unless they stand there.
    """
    stands = {line.text_with_origin for line in standing}
    ranked = sorted(found, key=lambda line: line.rank)
    again = [line for line in ranked if line.fits and line.text_with_origin in stands][:_MOST_AGAIN]
    repeated = {line.text_with_origin for line in again}
    fitting = [line for line in ranked if line.fits and line.text_with_origin not in stands - repeated]
    others = (*said, *(line for line in ranked if not line.fits))
    fresh = [line for line in others if line.text_with_origin not in stands]
    chosen, left = set[int](), most_tokens
    for line in (*fitting[:_MOST_FITTING], *fresh):
        cost = tokens_of(line)
        if cost <= left:
            chosen.add(id(line))
            left -= cost
    return [line for line in (*found, *said) if id(line) in chosen]


async def shed(
    former: MutableMapping[int, Sequence[RecalledLine]], most_tokens: Callable[[], Awaitable[int]]
) -> list[int]:
    """Take the lines of the oldest questions away where all together have too many tokens; which lost theirs.

    What is left has at most half as many, so that the next request begins like this one for a while.
    """
    costs = {place: sum(map(tokens_of, former[place])) for place in sorted(former)}
    total, lost = sum(costs.values()), list[int]()
    if total <= _NEVER_TOO_MANY or total <= (most := await most_tokens()):
        return lost
    for place, cost in costs.items():
        if total <= most // 2:
            break
        total -= cost
        former[place] = ()
        lost.append(place)
    return lost
