"""Rules for identity and changes in it: names, origins, moves, ended habits, and everything after "I am"."""

from mnemoir.providers.llm.offline import vocabulary as v
from mnemoir.providers.llm.offline.conjugation import third_person
from mnemoir.providers.llm.offline.sayings import became, being, moved, naming, not_being, not_doing, table, third

_WHEN = r"(?P<when>(?:yesterday|today|tomorrow|tonight|last|next|this|on|in|two|three|a|\d+)\b[^,]{0,30}?)"
_END = r"(?:\s(?P<ended>anymore|any more|any longer))"
_DOES_NOT = (
    "eat|drink|like|smoke|drive|speak|work|live|have|own|enjoy|watch|use|wear|believe|play|sleep well|"
    "celebrate|consume|"
    "tolerate|cook|want (?:kids|children)|read|travel|fly|date|trust|do (?:drugs|sports)|love|row|run|swim"
)


BEING = table(
    # who it is
    (r"my (?:full |first |real )?name is (?:actually )?(?P<name>[^,]+?)(?:,.*)?", naming),
    (r"I am (?:called|known as|named) (?P<name>.+)", naming),
    (
        r"(?:please |you can |just |everyone |everybody |people |friends |my friends )*calls? me (?!back|later|"
        r"crazy|when|if|a\b)(?P<x>\w[\w'-]*)",
        "Goes by {x}",
    ),
    (r"I go by (?P<x>(?!the\b)\w[\w'/ -]*)", "Goes by {x}"),
    (r"I was born (?P<x>(?:in|on|and raised)\b.+)", "Born {x}"),
    (r"I (?P<x>(?:grew up|come from|was raised)\b.+)", third),
    # changes of state, before the plain states
    (
        r"(?:I|we) (?:just |recently |finally |have |have just )*(?:moved|relocated|emigrated|immigrated)(?: "
        r"here)?(?: from (?P<origin>.+?))? to "
        r"(?P<place>(?!the (?:next|other|new|left|right)\b)[^,]+?)(?: from (?P<origin2>[^,]+?))?"
        r"(?:,? (?P<since>(?:in \d{4}|in (?:January|February|March|April|May|June|July|August|September|October|"
        r"November|December)\b.*|last \w+|yesterday|this \w+|today|\w+ (?:day|week|month|year)s? ago)))?",
        moved,
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
    (r"I used to (?P<x>(?!think\b|it\b|this\b).+)", "Used to {x}"),
    # I am …
    (r"I am (?P<said>.+)", being),
    (r"I was (?:recently |just )?diagnosed with (?P<x>.+)", "Diagnosed with {x}"),
    (r"(?:as|being) an? (?P<x>(?:" + v.DIETS + r")|nurse|teacher|doctor|developer|student|parent)", "Is {x}"),
)
