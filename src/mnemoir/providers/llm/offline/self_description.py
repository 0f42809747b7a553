"""Statements from the text after "I am": a name, an age, a diet, a trade, or several of them in a row.

Only known kinds of words are accepted. "I am fine" and "I am sure" are said every day and mean nothing a week later.
"""

import re
from collections.abc import Sequence

from mnemoir.providers.llm.offline import vocabulary as v

_NAME = re.compile(r"(?!(?:I|OK|Ok|Okay|Sorry|Not|Just|So|Very|Really|From|Here|Fine|Good|Back|In|At|On)\b)"
                   r"[A-ZÀ-ÖØ-Þ][\w'’-]+(?:\s[A-ZÀ-ÖØ-Þ][\w'’.-]*){0,2}")  # fmt: skip
_JOINT = re.compile(r"(\s*,\s*and\s+|\s*,\s*|\s+and\s+|\s+but\s+)", re.IGNORECASE)
_DIET = rf"(?P<diet>{v.DIETS})"
_SURE = (
    r"(?:(?:strictly|severely|very|highly|deathly|mildly|also|actually|currently|quite|seriously|really|"
    r"a bit|now|slightly)\s)*"
)
_UNDERWAY_EMPTY = re.compile(r"(?:on|at|with|for)?\s*(?:it|this|that|them|these|those|something)\b", re.IGNORECASE)

_KINDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), say)
    for pattern, say in (
        (r"(?:aged?\s)?(?P<x>\d{1,3})(?:[\s-]years?[\s-]old)?(?=$)", "Is {x} years old"),
        (r"(?:originally\s)?from\s(?P<x>(?!(?:the\s(?:same|previous|last|above)|work|home)\b).+)", "From {x}"),
        (r"(?:currently\s)?(?:based|living|residing)\s(?P<x>(?:in|near|at|with)\s.+)", "Lives {x}"),
        (r"born\s(?P<x>(?:in|on|and raised)\s.+)", "Born {x}"),
        (rf"{_SURE}(?:an?\s)?(?:strict\s|lifelong\s|committed\s|life-long\s)*{_DIET}(?P<x>\s(?:since|"
         r"for)\s.+)?", "Is {diet}{x}"),
        (rf"{_SURE}allergic\sto\s(?P<x>.+)", "Allergic to {x}"),
        (rf"{_SURE}intolerant\s(?:to|of)\s(?P<x>.+)", "Intolerant to {x}"),
        (r"(?:now\s|happily\s|already\s)*retired(?P<x>\s(?:since|for|from|in)\s.+)?",
         "Is retired{x}, no longer works"),
        (rf"{_SURE}(?P<x>(?:{v.TRAITS})(?:\s(?:since|for|with|to|in|from)\s.+)?)", "Is {x}"),
        (rf"(?P<x>(?:half\s|part\s)?(?:{v.NATIONS})(?:[\s-](?:{v.NATIONS}))?)", "Is {x}"),
        (r"an?\s(?P<x>christian|muslim|jew|hindu|buddhist)", "Is {x}"),
        (r"(?P<x>(?:married|engaged|related)\sto\s.+)", "Is {x}"),
        (rf"{_SURE}(?:afraid|scared|terrified)\sof\s(?!that\b|this\b|losing you)(?P<x>.+)", "Afraid of {x}"),
        (rf"{_SURE}(?P<x>(?:into|keen\son|crazy\sabout|passionate\sabout|fond\sof|obsessed\swith|interested\sin)\s"
         rf"(?!{v.EMPTY_OBJECT}|(?:learning|knowing|hearing|seeing)\s(?:more|about)).+)", "Is {x}"),
        (rf"{_SURE}(?P<x>(?:good|bad|great|terrible|hopeless)\sat\s(?!{v.EMPTY_OBJECT}).+)", "Is {x}"),
        (r"(?:currently\s|also\s|now\s|actively\s)?diagnosed\swith\s(?P<x>.+)", "Diagnosed with {x}"),
        (r"(?:currently\s|also\s)?(?P<x>looking\sfor\s(?:a\s|an\s)?(?:new\s)?(?:job|apartment|flat|house|"
         r"home|position|work|roommate)\b.*)",
         "Is {x}"),
        (rf"(?:currently\s|also\s|now\s|really\s|actively\s)?(?P<x>(?:{v.UNDERWAY})\s.+)", "{x}"),
        (r"(?:currently\s|also\s)?(?P<x>trying\sto\s(?:quit|lose|eat|get\s(?:pregnant|fit)|save|cut\sdown|"
         r"drink\sless|sleep|learn)\b.*)",
         "Is {x}"),
        (r"(?P<x>(?:flying|travelling|traveling|going|getting\smarried|running|visiting|meeting|leaving|"
         r"having|seeing|starting)\b.*)",
         "@{x}"),
        (rf"(?:actually\s|also\s|now\s|currently\s|just\s)?(?P<x>an?\s(?!(?:{v.NOT_A_KIND})\b).+)", "Is {x}"),
        (r"(?P<x>the\s(?:ceo|cto|cfo|head|lead|manager|director|founder|owner|captain|eldest|oldest|youngest|"
         r"only|mother|father|"
         r"chair|president|editor|author|principal|treasurer)\b.*)", "Is {x}"),
    )
)  # fmt: skip
_PLURAL_KINDS = re.compile(r"(?:an?\s)?(?:lot|bunch)\b", re.IGNORECASE)
_MOST_WORDS = 18


def self_description(said: str, *, dated: bool) -> Sequence[str]:
    """The statements in the text after "I am". `dated`: it names a day, so that "flying to Rome" is an event."""
    pieces = _pieces(said)
    found: list[str] = []
    for piece in pieces:
        found += _kind(piece, dated=dated) or ()
    return found


def denied(said: str) -> Sequence[str]:
    """The statement in the text after "I am not" or "I am no longer"; () for kinds not worth storing."""
    kept = re.sub(r"^(?:an?\s)", "", re.sub(r"\s(?:anymore|any more|any longer)$", "", said))
    worth = (
        rf"(?:strict\s)?(?:{v.DIETS}|{v.TRAITS}|{v.NATIONS}|allergic to .+|smoker|drinker|student|.* "
        r"fan(?: of .+)?|fan of .+|.* person)"
    )
    return (kept,) if re.fullmatch(worth, kept, re.IGNORECASE) else ()


def name_in(said: str) -> str | None:
    """`said` when the whole text is a name, else None. Names are recognised by their capitals."""
    known = re.fullmatch(rf"(?:{v.NATIONS}|{v.DIETS}|{v.TRAITS}|christian)", said, re.IGNORECASE)
    return said if _NAME.fullmatch(said) and not known else None


def _pieces(said: str) -> list[str]:
    """`said`, split at commas and "and" where both sides are descriptions of their own."""
    parts = _JOINT.split(said)
    pieces = [parts[0]]
    for joint, part in zip(parts[1::2], parts[2::2], strict=True):
        if (_kind(part, dated=False) and not re.match(r"(?:from|an?)\b", part, re.IGNORECASE)) or _is_trade(
            part, pieces
        ):
            pieces.append(part)
        elif part.strip():
            pieces[-1] += joint + part
    return pieces


def _is_trade(part: str, pieces: Sequence[str]) -> bool:
    """True when "a nurse" or "from Graz" describes the person rather than the words before it."""
    begins = re.match(r"(?:from|an?)\s", part, re.IGNORECASE)
    return bool(begins) and (
        name_in(pieces[-1]) is not None
        or bool(re.match(r"(?:an?|the|\d+|from|" + v.DIETS + "|" + v.TRAITS + r")\b", pieces[-1], re.IGNORECASE))
    )


def _kind(piece: str, *, dated: bool) -> Sequence[str] | None:
    """The statements of one description; None for an unknown kind."""
    name, _, place = piece.partition(" from ")
    if name_in(name):
        return [f"Name is {name}", *([f"From {place}"] if place else [])]
    if len(piece.split()) > _MOST_WORDS or _PLURAL_KINDS.match(piece):
        return None
    for pattern, say in _KINDS:
        match = pattern.fullmatch(piece)
        if match is None:
            continue
        said = say.format(**match.groupdict(default=""))
        if said.startswith("@"):
            return [said[1:]] if dated else None
        verb_object = said.partition(" ")[2]
        return None if say == "{x}" and _UNDERWAY_EMPTY.match(verb_object) else [said]
    return None
