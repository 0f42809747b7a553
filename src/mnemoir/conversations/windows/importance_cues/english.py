"""English phrases of important messages and of small talk."""

from mnemoir.conversations.windows.importance_cues.cues import Cues

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_MINE = (  # people and things of a person, as subjects of facts
    r"(?:wife|husband|partner|girlfriend|boyfriend|son|daughter|kids?|child|children|baby|brother|sister"
    r"|mother|mom|mum"
    r"|father|dad|parents|grand\w+|uncle|aunt|cousin|boss|manager|colleague|team|company|dog|cat|doctor|dentist"
    r"|landlord|birthday|anniversary|wedding|address|e-?mail|phone|number|name|job|flight|budget|salary|rent"
    r"|car|house"
    r"|apartment|flat|knee|back|heart|blood|leg|arm|eyes?|surname|nickname|username|time ?zone|goal|diet|native)"
)
_PROFESSION = (
    r"(?:engineer|teacher|nurse|doctor|designer|developer|student|lawyer|writer|manager|accountant|chef|cook"
    r"|architect"
    r"|pilot|driver|musician|scientist|researcher|electrician|carpenter|freelancer|vegetarian|vegan|diabetic|parent)"
)
_DECIDED = (
    r"(?:go with|use|take|pick|choose|stick with|stick to|book|buy|switch|migrate|ship|launch|move|order|sign|drop"
    r"|cancel|keep|start|postpone|skip|send|finish|deliver|rename|name|call it|stay|meet|sell|hire|quit"
    r"|accept|reject)"
)
_DECIDING = (
    r"(?:going with|using|switching|moving|cancell?ing|postponing|dropping|naming|buying|booking|taking"
    r"|selling|hiring"
    r"|quitting|launching|keeping|sticking)"
)

ENGLISH = Cues(
    remember=(
        r"\b(?:please |and |do |^)remember\b(?! when)",
        r"\bremember(?::| that (?:i|my|we|the|our))\b",
        r"\b(?:don't|do not|never) forget\b",
        r"\b(?:keep|bear) (?:it |that |this )?in mind\b",
        r"\bmake a (?:mental )?note\b|\bnote (?:that|this down|it down)\b",
        r"\bfor (?:the record|future reference)\b|\bfrom now on\b",
    ),
    decision=(
        r"\b(?:we|i|they)(?:'ve| have)? (?:all |just |finally )?(?:decided|agreed|settled on|chose|chosen"
        r"|committed)\b",
        r"\b(?:let's|we'll|i'll|we will|i will|going to) (?:just |all |definitely )?" + _DECIDED + r"\b",
        r"\b(?:we're|i'm|we are|i am) (?:now |definitely )?" + _DECIDING + r"\b",
        r"\bi (?:promise|commit)\b|\b(?:it's|that's) (?:settled|decided|final)\b|\bgo ahead with\b",
        r"\b(?:final|our|my) (?:decision|answer|choice)\b|\bdecision:|\bagreed:|\b(?:settled|decided"
        r"|agreed) (?:then|on)\b",
    ),
    fact=(
        # names, people, places, work
        r"\b(?:my|our) (?:[a-z]+ ){0,2}"
        + _MINE
        + r"(?:'s)?(?: [\w'-]+){0,3} (?:is|are|was|has|lives|works|turns|starts)\b",
        r"\bmy name's\b|\bcall me\b|\bi(?:'m| am) called\b|\bi was born\b",
        r"\bi (?:live|work|worked|grew up|study|studied|teach|moved|relocated|graduated|play|own|run|drive|speak)\b"
        r"(?! (?:out|it|this|that|into|around|on it)\b)",
        r"\bi(?:'m| am) (?:an? |the )?(?:[a-z]+ )?" + _PROFESSION + r"\b",
        r"\bi(?:'m| am) (?:married|divorced|single|pregnant|retired|colou?r-?blind|left-handed|\d+ years|from )\b",
        r"\bi(?:'ve| have) (?:an? |two |three |four |\d+ )(?:[a-z-]+ ){0,2}(?:dogs?|cats?|kids?|children"
        r"|sons?|daughters?"
        r"|brothers?|sisters?|allergy|asthma|diabetes|condition|degree)\b",
        r"\bi(?:'ve| have) (?:been|lived|worked) (?:working|living|a|an|in|at|as|for|on)\b",
        # preferences
        r"\bi (?:really |strongly |absolutely )?(?:prefer|hate|love|like|dislike|enjoy|avoid|can't stand)\b"
        r"(?! (?:it|that|this|the idea|your|how|to know|what)\b)",
        r"\bmy favou?rite\b|\bi(?:'d| would) rather\b|\bi (?:always|never|usually|only)\b",
        # constraints
        r"\b(?:allergic|intolerant) to\b|\bi don't (?:eat|drink|drive|fly|own|speak|smoke|work|use|do)\b",
        r"\bi can(?:'t|not) (?:eat|drink|have|travel|work|fly|drive|come|take|spend|attend|lift|do)\b",
        r"\b(?:must|has to|have to|needs to) (?:be|run|work|fit|stay|support|arrive|finish|cost|not|never"
        r"|also|only)\b",
        r"\b(?:no more than|at most|at least|not? later than|up to|maximum of|less than|under) [\d$€£]",
        r"\bdeadline\b.{0,40}\b(?:is|on|by)\b|\b(?:due|expires|ends|starts) (?:on|by)\b",
        r"\b(?:every|on|only|before|after|until|by|next) "
        + _DAY
        + r"\b|\b(?:mornings|afternoons|evenings|weekends) (?:are|only)\b",
        # dates, times, amounts, addresses
        r"\b" + _MONTH + r" \d{1,2}(?:st|nd|rd|th)?\b|\b\d{1,2}(?:st|nd|rd|th)? (?:of )?" + _MONTH + r"\b",
        r"\b(?:19|20)\d\d-\d\d-\d\d\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\bat \d{1,2}(?::\d\d| ?[ap]m\b"
        r"|\b(?= o'clock))",
        r"[$€£¥] ?\d|\b\d[\d.,]* ?(?:€|£|euros?|dollars?|pounds|usd|eur|people|guests|kg|km|gb)(?!\w)",
        r"\b[\w.+-]{1,64}@[\w-]{1,64}\.\w",
    ),
    correction=(
        r"^(?:no|nope|wait|sorry|actually)\b.{1,60}\b(?:not|isn't|wasn't|meant|it's|is|was|should)\b",
        r"\bi (?:meant|misspoke|was wrong|made a mistake)\b|\bthat's (?:wrong|not right|not correct|incorrect)\b",
        r"\bactually,? (?:it's|it is|my|i|the|we|he|she|they)\b|\bcorrection\b|\bto correct\b",
    ),
    offer=(
        r"\blet me know\b|\bhappy to\b|\bwould you like\b|\bif you (?:like|want)\b",
        r"\bi(?:'ll| will| can|'m going to) (?:\w+ )?(?:help|explain|show|try|walk you|give you|start by|use"
        r"|take a)\b",
        r"\blet's (?:start|take|use|keep|go|try|look|see)\b",
    ),
    small_talk=(
        r"hi|hello|hey|hiya|yo|good (?:morning|afternoon|evening|night)|morning|bye|goodbye|see you|take care",
        r"many thanks|thanks?(?: you)?|thx|cheers|so much|a lot|very much|you're welcome|no (?:problem|worries)",
        r"ok(?:ay)?|k|sure(?: thing)?|yes|yeah|yep|nope|no|right|great|nice|cool|perfect|awesome|excellent|lovely",
        r"got it|i see|makes sense|sounds (?:good|great|fine)|alright|all right|fine|good|well done|exactly|indeed",
        r"how are you|how's it going|what's up|not much|doing|i'm (?:fine|good|well|great)|glad to help|anytime",
        r"have a (?:nice|good|great|lovely)|day|one|evening|weekend|love|interesting|funny|helpful|wonderful|next",
        r"ha(?:ha)?|lol|wow|oh|hmm?|ah|there|again|then|now|everyone|so far|that's|that|it|is|was|very|really"
        r"|and|too",
        r"you|today|tomorrow|later|for|your|the|help|i|that makes sense",
    ),
)
