"""Functions of the rule tables: each turns the match of a clause into statements."""

import re
from collections.abc import Callable, Sequence

from mnemoir.providers.llm.offline import vocabulary as v
from mnemoir.providers.llm.offline.conjugation import is_past, skip_adverbs, third_person
from mnemoir.providers.llm.offline.dates import has_date
from mnemoir.providers.llm.offline.self_description import denied, name_in, self_description

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


def dated(match: re.Match[str]) -> Sequence[str]:
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
    return self_description(match["said"], dated=has_date(match["said"]))


def not_being(match: re.Match[str]) -> Sequence[str]:
    ended = match["still"] or re.search(r"\b(?:anymore|any more|any longer)$", match["said"])
    return [f"{'No longer' if ended else 'Is not'} {kind}" for kind in denied(match["said"])]


def not_doing(match: re.Match[str]) -> Sequence[str]:
    said, ended = match["said"], match["ended"]
    object_ = said.partition(" ")[2]
    if re.match(v.EMPTY_OBJECT, object_, re.IGNORECASE):
        return ()
    return (f"No longer {third_person(said)}" if ended else f"Doesn't {said}",)


def naming(match: re.Match[str]) -> Sequence[str]:
    name = name_in(match["name"]) or (match["name"].title() if match["name"].islower() else None)
    return (f"Name is {name}",) if name and len(name.split()) <= 3 else ()


def moved(match: re.Match[str]) -> Sequence[str]:
    """The new home, with its date and the former one where named: a move means living there since."""
    place = re.sub(r"\s(?:with|for|because|when|after|to be|and)\b.*$", "", match["place"])
    since = f" since {match['since']}" if match["since"] else ""
    origin = match["origin"] or match["origin2"]
    return (f"Lives in {place}{since}" + (f", moved from {origin}" if origin else ""),)


def became(match: re.Match[str]) -> Sequence[str]:
    what = match["what"]
    if age := re.fullmatch(r"(\d{1,3})\b.*", what):
        return (f"Is {age[1]} years old",)
    return self_description(what, dated=False)


def relative(match: re.Match[str]) -> Sequence[str]:
    said = re.match(
        r"(?:says|said|thinks|thought|asked|told|asks|tells|wants me|wanted me|keeps|just|is (?:here|fine|ok|"
        r"calling|asking|"
        r"sick|right|wrong|not (?:here|sure|happy))|and\b)",
        match["rest"],
        re.IGNORECASE,
    )
    return (
        ()
        if said
        else (f"{match['who']} {third_person(match['rest']) if match['rest'].startswith('have') else match['rest']}",)
    )
