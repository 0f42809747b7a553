"""Rules for "I have …": people, animals, possessions, medical conditions, and what has lasted for long.

Of one thing only known kinds are kept, since "I have a problem" is said every day. A counted plural may be anything
but what counts time, work, talk or data: "I have two rabbits", not "I have two questions".
"""

import re

from mnemoir.providers.llm.offline import vocabulary as v
from mnemoir.providers.llm.offline.sayings import Table, table

_OWNED = v.words(
    """
    goat sheep hen duck goose donkey pig cow llama alpaca ferret gerbil mouse rat lizard gecko budgie canary
    chameleon tarantula hedgehog peacock beehive sailboat kayak canoe rowing_boat greenhouse motorhome caravan cabin
    cottage treehouse sauna hot_tub swimming_pool vineyard orchard aquarium terrarium ukulele banjo trumpet
    saxophone cello clarinet flute harp accordion drum_kit synthesizer scooter unicycle tandem e-bike skateboard
    surfboard tractor
    """
)
_UNCOUNTED = v.words(  # counted, and gone by tomorrow, or of the talk itself
    """
    second minute hour day night evening morning afternoon week weekend fortnight month year decade time moment
    deadline question problem issue doubt idea thought concern worry worries suggestion option choice reason point
    thing matter possibility possibilities case example request favour favor wish task todo to-do job project
    assignment exercise essay exam test quiz quizzes class classe lesson lecture meeting call appointment interview
    date session event party parties trip flight booking reservation ticket offer quote invoice bill order delivery
    deliveries package parcel payment file folder document page line row column cell table word letter sentence
    paragraph section chapter step version draft copy copies image photo picture screenshot video clip tab window
    screen message mail email e-mail text notification comment post error warning bug crash crashe failure exception
    frame opinion string integer number float list array dict dictionary dictionaries object function method module
    variable parameter argument value item element input output endpoint server container branch branche commit repo
    repository repositories model dataset record query queries people person percent dollar euro pound cent buck
    gram kilo litre liter metre meter mile inch inche egg tomato tomatoes potato potatoes onion carrot apple banana
    lemon slice cup spoon beer drink coffee glass glasse bottle bite serving hand arm leg eye ear foot feet finger
    toe knee side part half halve chance attempt tries try guess guesse answer solution result score game match
    matche round goal plan theory theories hypothese source link mistake typo symptom headache pain way type kind
    sort group team level stage phase space seat slot room_left left pair set piece box boxe bag pack can jar tin
    pan blocker deliverable story stories sprint candidate review breast thigh fillet clove zucchini courgette
    aubergine eggplant pepper cucumber leek mushroom lime orange pear peache avocado avocadoes steak sausage biscuit
    cookie sandwich sandwiche
    """
)
_COUNT = r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a dozen|a few|several|a couple of|\d{1,3})"
_NOT_SO = r"(?:more|other|different|quick|short|further|extra|final|last|first|open|new ones)\s"
_PLURAL = r"(?:[a-z][a-z'-]*[a-rt-z]s|[a-z-]*(?:children|mice|geese|oxen|men|women|sheep|fish|deer|bees))"
_COUNTED = rf"{_COUNT}\s(?!{_NOT_SO})(?:[\w-]+\s){{0,2}}?(?!(?:{_UNCOUNTED})s?\b){_PLURAL}"
_NAME = r"(?-i:[A-Z])\w+"
_NAMES = rf"{_NAME}(?:,? (?:and )?{_NAME})*"

HAVING: Table = table(
    (
        r"(?:I|we) (?:(?:also|now|only|just) )*have (?:got )?(?:only |just )?"
        r"(?P<x>(?!\w+ed\s(?:with|the|my|an?|these|this|that|to|in|it|for)\b|(?:met|seen|been|known|had)\s)"
        rf"(?:(?:an?|the|my|two|three|four|five|six|no|\d+|some|many|"
        rf"several)\s)?(?:[\w'-]+\s){{0,3}}?"
        rf"(?:{v.PEOPLE}|{v.PETS}|{v.OWNED}|{_OWNED}|{v.CONDITIONS}|siblings|degree|phd|diploma|licen[sc]e|tattoos?|"
        r"passport|sons|daughters|brothers|sisters|cousins|friends in \w+)\b.*)",
        "Has {x}",
    ),
    (r"I have (?:been )?(?P<x>diagnosed with .+)", "{x}"),
    (
        r"I have been (?P<x>(?:renting|living|working|playing|learning|studying|married|together|teaching|running|"
        r"training|vegan|vegetarian|sober|practi[sc]ing)\b.*)",
        "Has been {x}",
    ),
    (r"we have been (?P<x>(?:renting|living|married|together)\b.*)", "Has been {x}"),
    (
        r"I have (?P<x>(?:always |never )?(?:lived|worked|visited|been to|climbed|run|written|published|studied|"
        r"loved|hated|wanted to|played|taught|travelled|traveled|been afraid of)\b.+)",
        lambda m: () if re.search(v.EMPTY_OBJECT + "$", m["x"]) else (f"Has {m['x']}",),
    ),
    (
        r"(?:I|we) (?:(?:also|now|still|currently|already) )*(?:have (?:got )?|keep )"
        rf"(?P<x>{_COUNTED}(?: and (?:{_COUNT}|an?)\s(?:[\w-]+\s)?[\w-]+)?"
        rf"(?:,? (?:called|named) .+|, {_NAMES}| at home| at my place| in {_NAME}"
        r"| in the (?:garden|yard|barn|stable))?)",
        "Has {x}",
    ),
)
