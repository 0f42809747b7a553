"""Rules for the user's people, pets, possessions, medical conditions, aims and abilities."""

import re

from mnemoir.providers.llm.offline import vocabulary as v
from mnemoir.providers.llm.offline.sayings import relative, table

LIFE = table(
    # my …
    (
        rf"my (?P<who>{v.PEOPLE}|{v.PETS})(?:'s name is| is called| is named|, called|, named| named| called) "
        r"(?P<x>.+)",
        "{who} is called {x}",
    ),
    (
        r"my favou?rite (?P<what>.+?) (?P<be>is|are) (?P<x>(?!(?:when|that|how|the one|this)\b).+)",
        "Favourite {what} {be} {x}",
    ),
    (
        rf"my (?P<what>{v.ATTRIBUTES}) (?P<be>is|are|include) (?P<x>(?!(?:not working|broken|slow|due|coming|"
        r"here)\b).+)",
        "{what} {be} {x}",
    ),
    (
        r"my (?P<what>(?:new |current |life |long-term |main )?(?:goal|dream|plan|aim|ambition))(?: for \w+(?: "
        r"year)?)? is (?P<x>to .+)",
        "{what} is {x}",
    ),
    (
        rf"my (?P<who>(?:late |older |younger |elder |little |big |best |new |twin |two )*(?:{v.PEOPLE}|"
        rf"{v.PETS})) (?P<rest>(?:is|are|was|were|has|have|lives?|works?|"
        r"studies|loves?|likes?|hates?|died|passed away|speaks?|plays?|teaches|moved|got|started|suffers?|turns|"
        r"turned|owns?|goes)\b.+)",
        relative,
    ),
    (rf"my (?P<x>(?:{v.PEOPLE}|{v.PETS}),? [A-Z]\w+)", "{x}"),
    (
        rf"my (?P<x>(?:{v.PEOPLE}|{v.PETS})) (?P<n>[A-Z]\w+) (?P<rest>(?:is|was|has|lives|works|loves|likes|"
        r"hates|died|turns|turned|plays|started)\b.+)",
        "{x} {n} {rest}",
    ),
    # I have …
    (
        r"(?:I|we) (?:also )?have (?:got )?(?P<x>(?:(?:an?|the|my|two|three|four|five|six|no|\d+|some|many|"
        rf"several)\s)?(?:[\w'-]+\s){{0,3}}?"
        rf"(?:{v.PEOPLE}|{v.PETS}|{v.OWNED}|{v.CONDITIONS}|siblings|degree|phd|diploma|licen[sc]e|tattoos?|"
        r"passport|sons|daughters|brothers|sisters|cousins|friends in \w+)\b.*)",
        "Has {x}",
    ),
    (r"I have (?:been )?(?P<x>diagnosed with .+)", "{x}"),
    (
        r"I have been (?P<x>(?:living|working|playing|learning|studying|married|together|teaching|running|"
        r"training|vegan|vegetarian|sober|practi[sc]ing)\b.*)",
        "Has been {x}",
    ),
    (
        r"I have (?P<x>(?:always |never )?(?:lived|worked|visited|been to|climbed|run|written|published|studied|"
        r"loved|hated|wanted to|played|taught|travelled|traveled|been afraid of)\b.+)",
        lambda m: () if re.search(v.EMPTY_OBJECT + "$", m["x"]) else (f"Has {m['x']}",),
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
        rf"I cannot (?:really |even )?(?P<x>(?:{v.UNABLE})\b(?! (?:you|it|this|that|the (?:error|problem|"
        r"file))\b).*)",
        "Cannot {x}",
    ),
    (r"I (?:also )?know (?P<x>how to (?!(?:do|fix|use|get) (?:it|this|that)).+)", "Knows {x}"),
    (
        rf"I (?:also )?know (?:some |a little |a bit of )?(?P<x>(?:{v.LANGUAGES})(?:(?:, | and )(?:and "
        rf")?(?:{v.LANGUAGES}))*)",
        "Knows {x}",
    ),
)
