"""Functions of the rule tables: each turns the match of a clause into statements.

Of the text after "I am" only known kinds of words are accepted. "I am fine" and "I am sure" are said every day and
mean nothing a week later.
"""

import re
from collections.abc import Callable, Sequence

from mnemoir.core.sentences import is_title
from mnemoir.memory.facts.decide.values import is_of_kind
from mnemoir.providers.llm.offline import vocabulary as v
from mnemoir.providers.llm.offline.wording import has_date, is_past, names_day, skip_adverbs, third_person

_NAME = re.compile(r"(?!(?:I|OK|Ok|Okay|Sorry|Not|Just|So|Very|Really|From|Here|Fine|Good|Back|In|At|On)\b)"
                   r"[A-ZÀ-ÖØ-Þ][\w'’-]+(?:\s[A-ZÀ-ÖØ-Þ][\w'’.-]*){0,2}")  # fmt: skip
_INITIAL = re.compile(r"[A-ZÀ-ÖØ-Þ]\.")
_JOINT = re.compile(r"(\s*,\s*and\s+|\s*,\s*|\s+and\s+|\s+but\s+)", re.IGNORECASE)
_DIET = rf"(?P<diet>{v.DIETS})"
_SURE = (
    r"(?:(?:strictly|severely|very|highly|deathly|mildly|also|actually|currently|quite|seriously|really|"
    r"a bit|now|slightly)\s)*"
)
_DWELLING = re.compile(
    r"\b(?:flat|apartment|house|home|place|village|town|city|suburbs?|countryside|country|coast|farm|cottage|studio|"
    r"dorm|street|district|neighbou?rhood|island|mountains|hostel|shelter)\b",
    re.IGNORECASE,
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
        (r"(?:currently\s|now\s)?(?P<x>(?:in|using)\s(?:a|an|my)\s(?:\w+\s)?wheelchair|"
         r"on\s(?:crutches|dialysis|blood thinners))",
         "Is {x}"),
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
Say = Callable[[re.Match[str]], Sequence[str]]
Table = tuple[tuple[re.Pattern[str], Say], ...]

_HABIT = re.compile(
    r"\b(?:(?:every|each)\s(?:single\s|other\s)?(?:day|morning|evening|afternoon|night|week|weekend|month|"
    r"year|summer|"
    r"winter|spring|autumn|fall|\w+day)|on\s(?:\w+days|weekends|weekdays)|daily|weekly|"
    r"(?:once|twice|\w+\stimes)\s(?:a|per|every)\s(?:day|week|month|year)|before (?:bed|breakfast|work)|after work)\b"
    r"|^(?:usually|always|often|normally|typically|generally|regularly|rarely|seldom)\b",
    re.IGNORECASE,
)
_NO_EVENT = frozenset(
    re.findall(
        r"\S+",
        "thought asked said told meant tried saw noticed needed wanted used should could would might may "
        "must got had "
        "was did didn't wasn't couldn't wondered forgot mentioned sent showed cannot can heard felt read looked",
    )
)
_LIKED_THE = (
    r"the\s(?:sea|ocean|mountains?|beach|outdoors|smell|taste|colou?r|rain|cold|heat|sun|theat(?:re|"
    r"er)|opera|cinema|piano|guitar|violin)\b"
)


def self_description(said: str, *, dated: bool) -> Sequence[str]:
    """The statements in the text after "I am". `dated`: it names a day, so that "flying to Rome" is an event."""
    pieces = _pieces(said)
    found: list[str] = []
    for piece in pieces:
        found += _kind(piece, dated=dated) or ()
    return found


def denial(said: str) -> Sequence[str]:
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
    is_common = said.isupper() or all(word.lower() in v.ORDINARY for word in said.split())
    return said if _NAME.fullmatch(said) and not known and not is_common else None


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


def table(*rows: tuple[str, str | Say]) -> Table:
    """A rule table from pairs of a pattern over a whole clause and a template over its groups, or a function."""
    return tuple(
        (re.compile(pattern, re.IGNORECASE), _template(say) if isinstance(say, str) else say) for pattern, say in rows
    )


def third(match: re.Match[str]) -> Sequence[str]:
    """The statement in group `x`, with its verb in the third person."""
    return (third_person(match["x"]),)


def _template(text: str) -> Say:
    return lambda match: (text.format(**match.groupdict(default="")),)


def doing(match: re.Match[str]) -> Sequence[str]:
    """The clause with its verb in the third person; () when its object, such as "it", has no meaning later."""
    said = match["said"]
    object_ = skip_adverbs(said).partition(" ")[2]
    about_the = re.match(r"the\b", object_, re.IGNORECASE) and re.match(
        r"(?:like|love|hate|prefer)", skip_adverbs(said)
    )
    if re.match(v.EMPTY_OBJECT, object_, re.IGNORECASE) or (
        about_the and not re.match(_LIKED_THE, object_, re.IGNORECASE)
    ):
        return ()
    return (third_person(said),)


def habit(match: re.Match[str]) -> Sequence[str]:
    said = match["said"]
    verb = skip_adverbs(said).split(" ")[0]
    repeated = _HABIT.search(said) and not re.fullmatch(v.NO_HABIT, verb, re.IGNORECASE)
    return doing(match) if repeated and not is_past(verb) else ()


def leading_habit(match: re.Match[str]) -> Sequence[str]:
    verb = skip_adverbs(match["said"]).split(" ")[0]
    return (
        ()
        if re.fullmatch(v.NO_HABIT, verb, re.IGNORECASE)
        else (f"{third_person(match['said'])} {_small(match['when'])}",)
    )


def dated_event(match: re.Match[str]) -> Sequence[str]:
    """An event, past or planned, on a named day; else ()."""
    said = match["said"]
    if not has_date(said) or not _is_event(said):
        return ()
    return (third_person(said),)


def dated_front(match: re.Match[str]) -> Sequence[str]:
    said = match["said"]
    if not has_date(match["when"]):
        return ()
    if said.lower().startswith("am "):
        return self_description(said[3:] + " " + _small(match["when"]), dated=True)
    return (f"{third_person(said)} {_small(match['when'])}",) if _is_event(said) else ()


def _small(text: str) -> str:
    """`text` with its first letter in lower case."""
    return text[0].lower() + text[1:]


def _is_event(said: str) -> bool:
    verb, _, rest = skip_adverbs(said).lower().partition(" ")
    if verb == "have":
        return re.search(rf"\b(?:{v.EVENTS})\b", rest) is not None
    if verb == "will":
        return not re.search(v.EMPTY_OBJECT, rest)
    return is_past(verb) and verb not in _NO_EVENT and not re.match(v.EMPTY_OBJECT, rest)


def being(match: re.Match[str]) -> Sequence[str]:
    return self_description(match["said"], dated=names_day(match["said"]))


def not_being(match: re.Match[str]) -> Sequence[str]:
    ended = match["still"].lower() == "no longer" or re.search(r"\b(?:anymore|any more|any longer)$", match["said"])
    return [f"{'No longer' if ended else 'Is not'} {kind}" for kind in denial(match["said"])]


def not_doing(match: re.Match[str]) -> Sequence[str]:
    said, ended = match["said"], match["ended"]
    object_ = said.partition(" ")[2]
    if re.match(v.EMPTY_OBJECT, object_, re.IGNORECASE):
        return ()
    return (f"No longer {third_person(said)}" if ended else f"Doesn't {said}",)


def naming(match: re.Match[str]) -> Sequence[str]:
    """The name, with its titles and initials: "Dr. Anna Weber", "John F. Kennedy Jr."."""
    said = match["name"].title() if match["name"].islower() else match["name"]
    plain = " ".join(word for word in said.split() if not is_title(word) and not _INITIAL.fullmatch(word))
    return (f"Name is {said}",) if name_in(plain or said) and is_of_kind("name", match["name"], "", said) else ()


def new_home(match: re.Match[str]) -> Sequence[str]:
    """The new home, with its date and the former one where named: a move means living there since."""
    place = re.sub(r"\s(?:with|for|because|when|after|to be|and)\b.*$", "", match["place"])
    if not is_of_kind("home", place, "", f"Lives in {place}") and not _DWELLING.search(place):
        return ()
    since = f" since {match['since']}" if match["since"] else ""
    origin = match["origin"] or match["origin2"]
    return (f"Lives in {place}{since}" + (f", moved from {origin}" if origin else ""),)


def became(match: re.Match[str]) -> Sequence[str]:
    what = match["what"]
    if age := re.fullmatch(r"(\d{1,3})\b.*", what):
        return (f"Is {age[1]} years old",)
    return self_description(what, dated=False)


def favourite(match: re.Match[str]) -> Sequence[str]:
    """ "Green is my favourite colour" with its subject last, in small letters where it is no name."""
    said, what = match["x"], match["what"]
    is_common = re.search(rf"\b(?:{v.NAMELESS})s?$", what, re.IGNORECASE)
    return (f"Favourite {what} {match['be']} {said[0].lower() + said[1:] if is_common else said}",)


def relative(match: re.Match[str]) -> Sequence[str]:
    said = re.match(
        r"(?:says|said|thinks|thought|asked|told|asks|tells|wants me|wanted me|keeps|just|is (?:here|fine|ok|"
        r"calling|asking|"
        r"sick|right|wrong|not (?:here|sure|happy))|and\b|"
        r"(?:was|were) (?!living|working|studying|raising|born)\w+ing\b)",
        match["rest"],
        re.IGNORECASE,
    )
    return (
        ()
        if said
        else (f"{match['who']} {third_person(match['rest']) if match['rest'].startswith('have') else match['rest']}",)
    )


_KEPT = re.compile(
    r"\b(?:car|bike|bicycle|tesla|wheelchair|glasses|lenses|aids?|braces|prosthesis|pacemaker|insulin|medication|thinners|linux|windows|macos|mac|vim|"
    r"emacs|metric.*|laptop)\b",
    re.IGNORECASE,
)


def used(match: re.Match[str]) -> Sequence[str]:
    """The statement about a thing used or worn, when it is of a lasting kind; else ()."""
    return third(match) if _KEPT.search(match["x"]) else ()


def wish_for_answers(match: re.Match[str]) -> Sequence[str]:
    """What the user wants of every answer."""
    return (f"Wants the assistant to {match['x'][0].lower()}{match['x'][1:]}",)
