"""The ordered table of rules: patterns over a whole clause, and the statements they make. The first result wins.

A rule covers only statements that are likely to last or that name a date. All other clauses are ignored: an
assistant that remembers small talk is worse than one that forgets a hobby.
"""

import re
from collections.abc import Sequence

from mnemoir.providers.llm.offline import vocabulary as v
from mnemoir.providers.llm.offline.having import HAVING
from mnemoir.providers.llm.offline.sayings import (
    Table,
    became,
    being,
    dated_event,
    dated_front,
    doing,
    favourite,
    habit,
    leading_habit,
    naming,
    new_home,
    not_being,
    not_doing,
    relative,
    table,
    third,
    used,
    wish_for_answers,
)
from mnemoir.providers.llm.offline.wording import third_person

_WHEN = r"(?P<when>(?:yesterday|today|tomorrow|tonight|last|next|this|on|in|two|three|a|\d+)\b[^,]{0,30}?)"
_END = r"(?:\s(?P<ended>anymore|any more|any longer))"
_NOW = r"(?:(?:current|present|actual|latest|new|all-time)\s)?"
_SINCE = (  # its "since" goes with the fillers at the beginning
    r"(?:\w+day|yesterday|(?:last|this) (?:week|month|year|summer|winter|spring|autumn|fall|\w+day)|"
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)(?: \d{4})?|\d{4})"
)
_PLACE = r"(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?"
_DOES_NOT = (
    "eat|drink|like|smoke|drive|speak|work|live|have|own|enjoy|watch|use|wear|believe|play|sleep well|"
    "celebrate|consume|"
    "tolerate|cook|want (?:kids|children)|read|travel|fly|date|trust|do (?:drugs|sports)|love|row|run|swim"
)


def _danger(match: re.Match[str]) -> Sequence[str]:
    """What is eaten and would kill: "Could die of nuts"."""
    return (f"Could die of {match['x'].lower()}",)


# identity and changes in it: names, origins, moves, ended habits, and everything after "I am"
BEING = table(
    # who it is
    (
        r"(?:my )?(?:full |first |real )?name is (?:actually |spelled |spelt |written )*(?P<name>[^,]+?)(?:,.*)?",
        naming,
    ),
    (r"I am (?:called|known as|named) (?P<name>.+)", naming),
    (
        r"(?:please |you can |just |everyone |everybody |people |friends |my friends |always |from now on )*"
        r"calls? me (?!back|later|"
        r"crazy|when|if|a\b)(?P<x>\w[\w'-]*)(?:,? (?:not|instead of|rather than|and not) [\w'-]+)?",
        "Goes by {x}",
    ),
    (
        r"I go by (?P<x>(?!(?:the|a|my|what|how|bike|bicycle|train|bus|tram|car|foot|plane|taxi|ferry|boat)\b)"
        r"\w[\w'/ -]*?)(?:,? (?:and not|not|instead of|rather than) [\w'-]+)?",
        "Goes by {x}",
    ),
    (r"I was born (?P<x>(?:in|on|and raised)\b.+)", "Born {x}"),
    (r"I (?P<x>(?:grew up|come from|was raised)\b.+)", third),
    (rf"(?:my )?home is (?:in )?(?P<x>{_PLACE})(?: for (?:me|us))?(?: now| these days)?(?:,.*)?", "Lives in {x}"),
    (
        r"(?:I am )?turning (?P<x>\d{1,3}(?: (?:on|in|next|this|tomorrow|today|soon)\b[^,]*)?)(?:, \w+)?",
        "Turns {x}",
    ),
    (
        r"(?:I have )?been (?P<x>an? (?!(?:bit|lot|while)\b)[\w -]+? "
        r"(?:for .*?\b(?:years?|decades?|months?)|since \d{4}))"
        r"(?: now)?(?:, .*)?",
        "Has been {x}",
    ),
    (
        r"(?:I )?(?:have |just |recently |finally )*(?:handed|gave|put|turned|given) in "
        r"my (?:notice|resignation)(?P<x>.*)",
        "Quit job{x}, no longer works there",
    ),
    (
        rf"(?:since |as of |starting )?(?P<since>{_SINCE}),? I (?:am |have been )?(?:now )?work(?:ing)? "
        r"(?P<x>(?:at|for|as) [^,]+)",
        "Works {x} since {since}",
    ),
    (
        rf"(?P<who>one) of (?:my|our) (?P<x>(?:{v.PETS}|{v.PEOPLE})(?:es|s)?) "
        r"(?P<rest>(?:has )?(?:died|passed away|was put down)\b.*)",
        "One of the {x} {rest}",
    ),
    (
        rf"(?P<x>(?:all )?(?:{v.DEADLY})s?) (?:will|would|could|can|might) "
        r"(?:literally |actually |probably )*kill me",
        _danger,
    ),
    # changes of state, before the plain states
    (rf"I (?:just |finally |have )*(?P<verb>left|quit) (?P<x>{v.NAMED}(?: for {v.NAMED})?)", "{verb} {x}"),
    (
        r"(?:I|we) (?:just |recently |finally |have |have just )*(?:moved|relocated|emigrated|immigrated)(?: "
        r"here)?(?: from (?P<origin>.+?))? to "
        r"(?P<place>(?!the (?:next|other|new|left|right)\b)[^,]+?)(?: from (?P<origin2>[^,]+?))?"
        r"(?:,? (?P<since>(?:in \d{4}|in (?:January|February|March|April|May|June|July|August|September|October|"
        r"November|December)\b.*|last \w+|yesterday|this \w+|today|\w+ (?:day|week|month|year)s? ago)))?",
        new_home,
    ),
    (r"I (?:have |recently |just |finally )*(?:became|become|turned|went|gone) (?P<what>.+)", became),
    (r"I am no longer (?P<x>(?:living|working|studying|playing|smoking|drinking|eating)\b.*)", "No longer {x}"),
    (r"I am (?P<still>no longer|not) (?P<said>.+)", not_being),
    (r"I no longer (?P<x>.+)", lambda m: (f"No longer {third_person(m['x'])}",)),
    (rf"I (?:don't|do not)(?: really| even)? (?P<said>(?:{_DOES_NOT})\b.*?){_END}?", not_doing),
    (
        rf"(?:I|we) (?:never|don't ever) (?P<x>(?:{v.LASTING}|use|wear|watch|cook|sleep|travel|fly|drive|read|"
        r"swim)\b.*)",
        lambda m: (f"Never {third_person(m['x'])}",),
    ),
    (r"I (?:have |recently |just |finally )*quit my job(?P<x>.*)", "Quit job{x}, no longer works there"),
    (
        r"I (?:have |recently |just |finally |officially )*(?P<x>(?:stopped|quit|gave up|given up) (?!reading "
        r"this|it\b|this\b|that\b|trying to).+)",
        "{x}",
    ),
    (r"I (?:have )?(?:just |recently )?retired(?P<x>.*)", "Is retired{x}, no longer works"),
    (r"I (?:have )?(?:just |recently )?lost my job(?P<x>.*)", "Lost job{x}, no longer works there"),
    (
        r"I (?:just |recently |finally |have )*got (?P<x>(?:married|engaged|divorced|promoted|laid off|"
        r"fired)\b.*)",
        "Got {x}",
    ),
    (
        r"I (?:just |recently |finally |have )*(?:got|started|landed|accepted) a (?:new )?(?:job|position|role) "
        r"(?P<x>(?:at|as|with|in)\b.+)",
        "Works {x}",
    ),
    (r"I (?:just |recently |have )*(?:started|began)(?: working)? (?P<x>(?:at|for) .+)", "Works {x}"),
    (
        r"I (?:also |now |just |recently |have )*(?:have|had|got|took|started|found) (?:an?|another|my) (?:new )?"
        r"(?:second |side |extra |part-time |weekend |other )+(?:job|gig|position) (?P<x>(?:at|as|with|in|for)\b.+)",
        "also works {x}",
    ),
    (
        r"(?:my|a) (?:second|side|other|part-time|weekend) (?:job|gig) is (?P<x>(?:at|as|with|in|for)\b.+)",
        "also works {x}",
    ),
    (
        r"(?:I|we) (?:just |recently |finally |have )*(?P<x>(?:got|adopted|bought) (?:a|an|two|three|my|"
        rf"our)\b(?: \w+){{0,2}}? (?:{v.PETS}|{v.OWNED})\b.*)",
        "{x}",
    ),
    (
        r"I (?:just |recently |have |have just )*(?P<x>(?:started|began|begun) (?:learning|studying|running|"
        r"playing|training|working|dating|writing|"
        r"building|therapy|school|college|university|a (?:new |small )?(?:business|company|diet|blog|podcast|"
        r"course))\b.*)",
        "{x}",
    ),
    (
        r"(?:I|we) (?:just |recently |finally |have )*(?P<x>(?:had|have had|welcomed) (?:a|our|another) (?:\w+ )?"
        r"(?:baby|boy|girl|son|daughter|child)\b.*)",
        "{x}",
    ),
    (
        r"(?P<x>(?-i:[A-Z])\w+ (?:has )?(?:died|passed away|was put down) (?:today|yesterday|(?:last|this) \w+|"
        r"on \w+day|\w+ (?:day|week|month)s? ago))",
        "{x}",
    ),
    (r"I used to (?P<x>(?!think\b|it\b|this\b).+)", "Used to {x}"),
    # I am …
    (r"I am (?P<said>.+)", being),
    (
        r"we are (?P<said>(?:flying|travell?ing|moving|getting married|going|visiting|leaving|having|expecting) .+)",
        being,
    ),
    (r"I was (?:recently |just )?diagnosed with (?P<x>.+)", "Diagnosed with {x}"),
    (r"(?:as|being) an? (?P<x>(?:" + v.DIETS + r")|nurse|teacher|doctor|developer|student|parent)", "Is {x}"),
)


_ASKED = (
    r"(?P<x>(?:answer|reply|respond|write|use|give|address|speak|talk|keep|explain|format|spell|convert|call|show|add|"
    r"include|avoid|stop|do not|don't|never|always)\b.+)"
)


# wishes for every answer; a request without a word for the time is for one answer
_ALWAYS = r"(?:from now on|in (?:the )?future|going forward|from today on|henceforth)"
ASKING = table(
    (rf"{_ALWAYS},? (?:please )?(?!(?:always )?call me){_ASKED}", wish_for_answers),
    (rf"(?:please )?(?!call me){_ASKED.replace('|never|always', '')} {_ALWAYS}", wish_for_answers),
    (
        r"(?:please )?(?P<x>(?:always|never) (?:answer|reply to|respond to|address|speak to|talk to|give|show) "
        r"me\b.+)",
        wish_for_answers,
    ),
)


# habits, and events on a named day; these rules come last, because their patterns match most
DOING = table(
    # habits and lasting states
    (
        r"(?P<when>(?:every|each|on) (?:\w+ )?(?:day|morning|evening|afternoon|night|week|weekend|month|year|"
        r"summer|winter|spring|autumn|\w+days?|weekends|weekdays)|"
        r"(?:once|twice|\w+ times) a (?:day|week|month|year)),? I (?P<said>.+)",
        leading_habit,
    ),
    (
        r"(?:I|we) (?:(?:really|also|absolutely|both|personally|currently|definitely|just|do|now|totally|still|"
        r"truly)\s)*"
        r"(?P<said>(?:(?:mostly|mainly|only|usually|always|often|particularly|especially|sometimes|generally|"
        r"normally)\s)*"
        rf"(?:{v.LASTING})\b.*)",
        doing,
    ),
    (r"(?:I|we) (?P<said>.+)", habit),
    (
        r"I would (?:rather|prefer) (?P<x>(?!(?:not\b|if\b|you\b|it\b|to (?:see|know|have (?:it|this))\b)).+)",
        "Would prefer {x}",
    ),
    (rf"I (?P<said>(?:{v.PAST})\b(?! (?:on it|this|that|it|reading|to|by)\b) .+)", lambda m: (m["said"],)),
    (
        r"I (?:also )?(?P<x>(?:run|manage|lead|own|founded) (?:a|an|my own|the) (?:[\w-]+ ){0,3}?(?:company|"
        r"business|team|shop|restaurant|startup|start-up|farm|"
        r"department|blog|agency|studio|lab|club|bakery|café|cafe|bar|hotel|school|charity|gallery|bookshop|"
        r"store|salon)\b.*)",
        third,
    ),
    (
        r"I (?P<x>(?:drive|ride|own) (?:an?|two|three|our|my) (?!hard bargain|(?:lot|bit|few|little|couple)\b).+)",
        third,
    ),
    (
        r"I (?P<x>(?:use|drive|ride|wear|take|need) (?:a |an |my |insulin|only |glasses|contact|hearing|blood |"
        r"metric|linux|windows|macos|vim|emacs).*)",
        used,
    ),
    # events on a named day
    (rf"{_WHEN},? (?:I|we) (?P<said>.+)", dated_front),
    (r"(?:I|we) (?P<said>.+)", dated_event),
)


# the user's people, pets, aims and abilities
LIFE = table(
    # my …
    (
        rf"my (?P<who>{v.PEOPLE}|{v.PETS})(?:(?:'s name is| is called| is named|, called|, named| named) |"
        r" called (?=(?-i:[A-Z])(?!\b)))(?P<x>.+)",
        "{who} is called {x}",
    ),
    (
        rf"my {_NOW}favou?rite (?P<what>.+?) (?P<be>is|are) (?:now )?(?P<x>(?!(?:when|that|how|the one|this)\b).+)",
        "Favourite {what} {be} {x}",
    ),
    (
        rf"(?P<x>(?!(?:it|that|this|what|which|he|she|they|you)\b).+?) (?P<be>is|are) (?:now )?my {_NOW}favou?rite "
        r"(?P<what>[\w' -]+?)(?: now| these days| at the moment| of all time)?",
        favourite,
    ),
    (
        rf"my {_NOW}(?P<what>{v.ATTRIBUTES}) (?P<be>is|are|include) (?P<x>(?!(?:not working|broken|slow|due|coming|"
        r"here)\b).+)",
        "{what} {be} {x}",
    ),
    (
        r"my (?P<what>(?:new |current |life |long-term |main )?(?:goal|dream|plan|aim|ambition))(?: for \w+(?: "
        r"year)?)? is (?P<x>to .+)",
        "{what} is {x}",
    ),
    (
        rf"(?:my|our) (?P<who>(?:late |older |younger |elder |little |big |best |new |twin |two )*(?:{v.PEOPLE}|"
        rf"{v.PETS})) (?:just |now )?(?P<rest>(?:is|are|was|were|has|have|lives?|works?|"
        r"studies|loves?|likes?|hates?|died|passed away|speaks?|plays?|teaches|moved|got|started|suffers?|turns|"
        r"turned|owns?|goes|gave birth)\b.+|died|passed away)",
        relative,
    ),
    (rf"my (?P<x>(?:{v.PEOPLE}|{v.PETS}),? (?-i:[A-Z])\w+)", "{x}"),
    (
        rf"(?:my|our) (?P<x>(?:{v.PEOPLE}|{v.PETS})) (?P<n>(?-i:[A-Z])\w+) (?:just |now )?"
        r"(?P<rest>(?:is|was|has|lives|works|loves|likes|hates|died|turns|turned|plays|started|gave birth)\b.+|"
        r"died|passed away)",
        "{x} {n} {rest}",
    ),
    (
        rf"I (?:always |often |easily |really |still |sometimes )*(?P<x>(?:get|suffer from) (?:really |very )?"
        rf"(?:{v.AILMENTS})\b.*)",
        third,
    ),
    # aims
    (
        r"I (?:really |also |still |just |would really )*(?:want|would like|would love|wish) to "
        rf"(?P<x>(?:{v.WISHED})\b(?! (?:how|what|why|more about (?:this|that|it)|if|whether|the answer)\b).*)",
        "Wants to {x}",
    ),
    (
        r"(?:I am|we are|I|we) (?:really |also |still |currently )*(?P<verb>plan|hope|aim|intend|dream)(?:ning|ing)? "
        r"(?P<x>(?:to|of|on) (?!(?:see|hear|get|know|ask|use it|do (?:it|this|that))\b).+)",
        lambda m: (f"{m['verb'].capitalize()}s {m['x']}",),
    ),
    (
        r"I (?:am going|will) to (?P<x>(?:visit|move|start|travel|become|have a baby|get married|retire|run|"
        r"study)\b.+)",
        "Is going to {x}",
    ),
    # abilities
    (
        rf"I can (?:also |already |only )?(?P<x>(?:{v.ABLE})\b(?! (?:you|it|this|that|the (?:error|problem|code|"
        r"file))\b).*)",
        "Can {x}",
    ),
    (
        rf"I cannot (?:really |even )?(?P<x>(?:(?:{v.UNABLE})\b|do (?={v.FOODS}))(?! ?(?:you|it|this|that|"
        r"the (?:error|problem|file))\b).*)",
        "Cannot {x}",
    ),
    (r"I (?:also )?know (?P<x>how to (?!(?:do|fix|use|get) (?:it|this|that)).+)", "Knows {x}"),
    (
        rf"I (?:also )?know (?:some |a little |a bit of )?(?P<x>(?:{v.LANGUAGES})(?:(?:, | and )(?:and "
        rf")?(?:{v.LANGUAGES}))*)",
        "Knows {x}",
    ),
)


def may_say(sentence: str) -> bool:
    """False for a sentence that no rule fits, as most of a long text are, and of other languages."""
    return _CUE.search(sentence) is not None


def _behind_since(match: re.Match[str]) -> Sequence[str]:
    """The statement behind "since the divorce", with it at the end."""
    return tuple(f"{said} {match['when'][0].lower()}{match['when'][1:]}" for said in said_by(match["said"]))


def said_by(clause: str) -> Sequence[str]:
    """The statements of the first rule that makes any; () when no rule does."""
    if not may_say(clause):
        return ()
    first = clause.partition(" ")[0].lower()
    for pattern, say in _BY_FIRST_WORD.get(first, _OF_OTHERS):
        match = pattern.fullmatch(clause)
        said = say(match) if match else ()
        if said:
            return said
    return ()


def _statement_to_remember(match: re.Match[str]) -> Sequence[str]:
    """The statement in "remember that ...": by another rule if one matches, else in the user's words."""
    said = match["said"]
    by_rule = said_by(said) if not _REMEMBER.fullmatch(said) else ()
    if by_rule:
        return by_rule
    return (third_person(said[2:]),) if said.startswith("I ") else (said,)


_REMEMBER = re.compile(
    r"(?:please\s|also\s|always\s)?(?:remember|don't forget|do not forget|never forget|note|keep in mind|"
    r"bear in mind|"
    r"make a note|take note|for future reference)\b(?:\sthis)?(?:\s?[:,])?\s(?:that\s)?"
    r"(?!(?:that|it|these|those|them|all|everything)(?:\s(?:please|well|too|for me|for later|all|of that))*$)"
    r"(?P<said>(?!(?:to|when|how|me|what|the time|our|if|whether|about|of|where|which|this)\b).+)",
    re.IGNORECASE,
)

_CLAUSE_OF_I = ("I ", "(?:I|we) ", "(?:I am|", "we ")  # beginnings of patterns that fit no clause but with that word
_CLAUSE_OF_MY = ("my ", "(?:my|our) ")
_CUE = re.compile(  # a word that every clause has which a rule fits; most of a long text have none
    r"\b(?:i|im|ive|we|my|our|me|us|myself|name|calls?|as|being|remember|forget|note|mind|reference|always|never|"
    r"now on|today on|future|forward|henceforth|can't|cannot|died|passed away|put down|home is|turning|"
    r"been an?|notice|resignation)\b",
    re.IGNORECASE,
)
_SINCE_THEN = re.compile(
    r"(?P<when>(?:since|after) (?:the|my|our|his|her) [\w' -]{3,40}?),? (?P<said>I .+)", re.IGNORECASE
)
_RULES: Table = (
    (_SINCE_THEN, _behind_since),
    (_REMEMBER, _statement_to_remember),
    *ASKING,
    *BEING,
    *HAVING,
    *LIFE,
    *DOING,
)
_OF_OTHERS: Table = tuple(rule for rule in _RULES if not rule[0].pattern.startswith((*_CLAUSE_OF_I, *_CLAUSE_OF_MY)))
_OF_I: Table = tuple(rule for rule in _RULES if not rule[0].pattern.startswith(_CLAUSE_OF_MY))
_OF_MY: Table = tuple(rule for rule in _RULES if not rule[0].pattern.startswith(_CLAUSE_OF_I))
_BY_FIRST_WORD = {"i": _OF_I, "we": _OF_I, "my": _OF_MY, "our": _OF_MY}
