"""What people say when something is worth keeping, in English, German and Chinese.

Each kind is one pattern over normal text: case does not matter. The cues are whole phrases, because single words
("decision", "name") are as frequent in small talk as in what matters. A further language is a further block in each.
"""

import re


def _any(*phrases: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{phrase})" for phrase in phrases), re.IGNORECASE)


_MONTH = (
    r"(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|okt(?:ober)?|nov(?:ember)?|dec(?:ember)?|dez(?:ember)?)"
)
_RELATION = (
    r"(?:wife|husband|partner|son|daughter|kids?|children|brother|sister|mother|mom|mum|father|dad|parents|boss|manager"
    r"|dog|cat|doctor|landlord|team|company|birthday|anniversary|address|e-?mail|phone|number|name|job|flight|budget)"
)
_RELATION_DE = (
    r"(?:frau|mann|partner(?:in)?|sohn|tochter|kinder|bruder|schwester|mutter|vater|eltern|chefin|chef|hund|katze"
    r"|ärztin|arzt|vermieter(?:in)?|team|firma|geburtstag|adresse|e-?mail|telefonnummer|nummer|name|flug|budget)"
)

REMEMBER = _any(
    r"\b(?:please |do |to )?remember (?:that|this|my|me|to|i|we|the|for)\b(?! when)",
    r"\b(?:don't|do not|never) forget\b",
    r"\b(?:keep|bear) (?:it |that |this )?in mind\b",
    r"\b(?:make|take) a (?:mental )?note\b|\bnote (?:that|this down|it down)\b|\bfor (?:the record|future reference)\b",
    r"\bmerk(?:e|en)? (?:dir|dich|es dir|ihnen|sie sich)\b|\bbitte merken\b|\bvergiss (?:bitte )?nicht\b",
    r"\bvergessen sie (?:bitte )?nicht\b|\bbehalte? (?:bitte |das |es )*im (?:kopf|hinterkopf)\b|\bnotier",
    r"\bdenk(?:e)? (?:bitte )?(?:daran|dran)\b",
    r"请?(?:你)?(?:记住|记得|牢记|记下|记一下)|别忘|不要忘|请注意以后",
)

DECISION = _any(
    r"\b(?:we|i|they)(?:'ve| have)? (?:all )?(?:just )?(?:decided|agreed|settled on|chose|committed|concluded)\b",
    r"\b(?:let's|we'll|i'll|we will|i will|i'm going to|we're going to|going to) (?:just )?"
    r"(?:go with|use|take|pick|choose|stick with|book|buy|switch|migrate|ship|launch|move|order|sign|drop|cancel|keep"
    r"|start|postpone|skip|send|finish|deliver|call|rename|stay)\b",
    r"\bi (?:promise|commit)\b|\bit's (?:settled|decided|final)\b|\b(?:final )?decision(?: is|:)|\bagreed:",
    r"\b(?:settled|decided|agreed)(?: then| on)\b|\bgoing with\b|\bgo ahead with\b",
    r"\bwir (?:haben uns|entscheiden uns|einigen uns)\b|\bich habe mich (?:für|dafür|entschieden|dagegen|gegen)\b",
    r"\b(?:entschieden|beschlossen|vereinbart|abgemacht|festgelegt|geeinigt)\b|\bdann (?:nehmen|machen|bleiben) wir\b",
    r"\b(?:ich|wir) (?:nehme|nehmen|buche|buchen|kaufe|kaufen|kündige|kündigen|wechsle|wechseln|verschieben"
    r"|schicke|schicken|liefere|liefern|übernehme|übernehmen|unterschreibe)\b|\bich verspreche\b|\bwir bleiben bei\b",
    r"(?:我|我们|咱们)(?:已经|最终|最后|都)?(?:决定|商定|约定|同意|选择|选定|选|答应|保证|承诺)|就(?:这么|这样)?定了|最终方案|决定[:：是用]",
    r"(?:我|我们|咱们)(?:就|会|将)(?:用|选|买|订|采用|换|取消|推迟|负责|提交|发)|那就(?:用|选|订|买|按|定)|敲定",
)

FACT = _any(
    # names, people, places, work
    r"\bmy (?:[a-z]+ ){0,2}"
    + _RELATION
    + r"(?:'s)?(?: [\w'-]+){0,3} (?:is|are|was|has|lives|works|turns|starts|leaves)\b",
    r"\bmy (?:[a-z]+ )?name(?:'s| is)\b|\bcall me\b|\bi(?:'m| am) called\b|\bi (?:live|work|was born|grew up|study) (?:in|at|as|for|on|near)\b",
    r"\bi(?:'m| am) (?:an? |the )?(?:[a-z]+ )?(?:engineer|teacher|nurse|doctor|designer|developer|student|lawyer|writer"
    r"|manager|accountant|vegetarian|vegan|diabetic|married|divorced|pregnant|retired|from [A-Z\w]+)\b",
    r"\bi(?:'ve| have) (?:an? |two |three |four |\d+ )(?:[a-z-]+ ){0,2}(?:dogs?|cats?|kids?|children|sons?|daughters?"
    r"|brothers?|sisters?|allergy|condition)\b",
    r"\bi (?:moved|emigrated|relocated) to\b|\bi(?:'ve| have) been (?:working|living)\b",
    # preferences
    r"\bi (?:really |always |never |usually |strongly )?(?:prefer|hate|love|like|dislike|enjoy|avoid|can't stand)\b(?! (?:it|that|this|the idea|your)\b)",
    r"\bmy favou?rite\b|\bi(?:'d| would) rather\b|\bi always\b|\bi never\b",
    # constraints
    r"\b(?:i'm|i am|he's|she's|is|are) (?:severely |very )?(?:allergic|intolerant)\b|\bi can(?:'t|not) (?:eat|drink|have|travel"
    r"|work|fly|drive|use|do|make|come|take|go|spend|attend|lift)\b|\bi don't (?:eat|drink|drive|fly|own|speak|smoke)\b",
    r"\b(?:must|has to|have to|needs to|need to) (?:be|run|work|fit|stay|support|arrive|finish|cost|not|use)\b",
    r"\b(?:no more than|at most|at least|not? later than|up to|maximum of|max\.?) [\d$€£]|\bonly (?:on|have|work|available)\b",
    r"\bdeadline\b.{0,30}\b(?:is|:)|\bwe only\b",
    # dates and amounts
    r"\b(?:on|by|until|before|since|from|due|am|bis|ab|seit|vor) (?:the )?(?:\d{1,2}(?:st|nd|rd|th|\.)? (?:of )?"
    + _MONTH
    + r"|"
    + _MONTH
    + r" \d{1,2})",
    r"\b(?:19|20)\d\d-\d\d-\d\d\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b\d{1,2}\. ?"
    + _MONTH
    + r"\b|\b"
    + _MONTH
    + r" \d{1,2}(?:st|nd|rd|th)?\b",
    r"[$€£¥]\s?\d|\b\d[\d.,]*\s?(?:€|\$|£|¥|euros?\b|dollars?\b|pounds?\b|usd\b|eur\b|k\b|million\b|kg\b|km\b|gb\b|people\b|guests\b"
    r"|personen\b|leute\b|gäste\b)",
    r"\b(?:at|um) \d{1,2}(?::\d\d)?\s?(?:am\b|pm\b|uhr\b|o'clock)|\b\w+@\w+\.\w+",
    # German
    r"\bich (?:heiße|bin (?:allergisch|vegetarier|veganer|verheiratet|geschieden|schwanger|[\w]+(?:in|er|ent|entin)\b (?:und|bei|in|von|aus))"
    r"|wohne|arbeite|lebe|komme aus|wurde .{0,30}geboren|bin in .{1,30} (?:aufgewachsen|geboren))\b",
    r"\bmein(?:e|er|en|em)? (?:\w+ ){0,2}"
    + _RELATION_DE
    + r"(?: [\w-]+){0,2} (?:ist|sind|heißt|heißen|hat|wohnt|lebt|arbeitet|wird|geht|lautet)\b",
    r"\bnenn(?:en sie)? mich\b|\bich bin (?:\w+ )?von beruf\b|\bich bin (?:seit|\d+)\b|\bich habe (?:einen|eine|zwei|drei|vier|\d+) "
    r"(?:\w+ ){0,2}(?:hunde?|katzen?|kinder|söhne?|sohn|töchter|tochter|brüder|bruder|schwestern?|allergie\w*)\b",
    r"\bich (?:mag|hasse|liebe|bevorzuge|trinke|esse|vertrage|darf|kann)\b.{0,40}\b(?:kein\w*|nicht|nie|lieber|am liebsten|nur|immer)\b",
    r"\bich (?:bevorzuge|hasse|liebe|trinke|esse)\b|\bam liebsten\b|\bmein\w* lieblings|\blieber\b.{0,40}\bals\b|\bich vertrage\b",
    r"\b(?:höchstens|maximal|mindestens|spätestens|nicht mehr als|bis zu) [\d€]|\b(?:muss|müssen|darf|dürfen)\b.{0,60}"
    r"\b(?:sein|laufen|bleiben|passen|kosten|fertig|werden|unterstützen|ankommen)\b",
    r"\b(?:die )?frist\b.{0,30}\b(?:ist|endet|:)|\bnur (?:am|montags|dienstags|mittwochs|donnerstags|freitags|vormittags|nachmittags|abends)\b",
    # Chinese
    r"我(?:的名字)?(?:叫|姓|是一?[名个位]|来自|住在?|出生|今年|在[^，。？]{1,12}(?:工作|上班|上学|读书|当))|我是[^，。？吗]{0,8}(?:人|师|生|员|者)(?:[，。]|$)",
    r"我的?(?:妻子|太太|老婆|丈夫|老公|先生|儿子|女儿|孩子|哥哥|弟弟|姐姐|妹妹|妈妈|母亲|爸爸|父亲|老板|经理|狗|猫|医生|房东|公司|团队"
    r"|生日|地址|电话|手机号|邮箱|航班|预算|名字)[^，。？]{0,12}(?:是|叫|在|住|有|为|对|要|不)",
    r"我(?:有|养了)[一二两三四五\d][个只条名位]|我(?:一直|从来|总是|特别|最|更|比较|非常|很)?(?:喜欢|讨厌|偏好|不喜欢|偏爱|爱吃|爱喝|不吃|不喝|不会|从不)",
    r"过敏|不能(?:吃|喝|超过|晚于|去|坐|开|用|来|参加)|(?:必须|不得|最多|至少|不超过|最晚|最迟|只能|只有)[^，。？]{0,16}",
    r"\d{1,2}月\d{1,2}[日号]|(?:下午|上午|晚上|早上|中午)[\d一二两三四五六七八九十]+点|\d[\d.,]*\s?(?:元|块|万|美元|欧元|公斤|公里|人(?!民)|位|岁)"
    r"|截止(?:日期|时间)?[是为]?",
)

CORRECTION = _any(
    r"^(?:no|nope|wait|sorry|actually|correction)\b[,.:;— -].{0,60}\b(?:not|isn't|wasn't|meant|it's|is|was|should)\b",
    r"\b(?:i meant|i misspoke|that's (?:wrong|not right|not correct|incorrect)|i was wrong|to correct|correction)\b",
    r"\bactually,? (?:it's|it is|my|i|the|we|he|she|they)\b|\b(?:not .{1,30}),? but (?:rather )?\b|\binstead of what\b",
    r"^(?:nein|halt|moment|sorry|korrektur)\b[,.:;— -].{0,60}\b(?:nicht|sondern|meinte|ist|war|sind)\b",
    r"\bich meinte\b|\bdas (?:stimmt|ist) (?:so )?(?:nicht|falsch)\b|\bich habe mich (?:vertan|geirrt|versprochen|verschrieben)\b"
    r"|\bsondern\b|\beigentlich (?:ist|sind|heißt|heiße|war)\b|\bkorrektur\b",
    r"^(?:不对|不是|错了|等等|更正)|我(?:说|记|写|弄|搞)错了|(?:应该|其实)是|更正一下|不是[^，。]{1,20}[，,]?\s?(?:而是|是)",
)

# The whole message: whoever adds something to an "ok" may well say something. Atomic groups keep it linear.
SMALL_TALK = re.compile(
    r"""^[\W_]*+(?:(?>\b(?:
        hi|hello|hey|hiya|yo|good\s(?:morning|afternoon|evening|night)|morning|bye|goodbye|see\syou(?:\s\w+)?|take\scare
      | thanks?(?:\syou)?|thx|cheers|many\sthanks|so\smuch|a\slot|very\smuch|you're\swelcome|no\s(?:problem|worries)|my\spleasure
      | ok(?:ay)?|k|sure(?:\sthing)?|yes|yeah|yep|no|nope|right|great|nice|cool|perfect|awesome|excellent|lovely|wonderful
      | got\sit|i\ssee|makes\ssense|sounds\s(?:good|great|fine)|alright|all\sright|fine|good|well\sdone|exactly|indeed
      | how\s(?:are\syou|is\sit\sgoing|was\syour\s(?:day|weekend|evening))(?:\stoday|\sdoing)?|what's\sup|not\smuch|i'm\s(?:fine|good|well|great)
      | ha(?:ha)+|lol|wow|oh|hm+|ah|there|again|then|everyone|so\sfar|that|that's|it|is|very|really|and|you|too|today|for|your|the|help
      | have\sa\s(?:nice|good|great|lovely)\s(?:day|one|evening|weekend)|glad\s(?:to\shelp|i\scould\shelp|it\shelped)|anytime
      | hallo|moin|servus|guten\s(?:tag|morgen|abend)|gute\snacht|tschüss|tschau|bis\s(?:bald|später|morgen|dann)|ciao
      | danke(?:\s(?:schön|dir|ihnen|sehr))?|vielen\sdank|bitte(?:\sschön|\ssehr)?|gern(?:e)?(?:\sgeschehen)?|kein\sproblem|keine\sursache
      | ja|nein|klar|genau|stimmt|alles\sklar|verstehe|verstanden|super|toll|prima|klasse|passt|gut|sehr|in\sordnung|schön|ach\sso|achso|na\sdann
      | wie\sgeht(?:'s|\ses)(?:\s(?:dir|ihnen))?(?:\sheute)?|mir\sgeht(?:'s|\ses)\s(?:gut|prima)|schönen?\s(?:tag|abend|wochenende|gruß)|noch|auch
      | dir|ihnen|euch|für|die|deine|hilfe|das|ist|freut\smich|hört\ssich\sgut\san|klingt\sgut|einen|dann
      )\b
      | 你好|您好|嗨|哈喽|早上好|下午好|晚上好|早安|晚安|再见|拜拜|回头见|明天见|谢谢(?:你|您|啦|了)?|多谢|非常感谢|感谢|太感谢了?|不客气|不用谢|没关系|没问题
      | 好的?|好吧|好啊|行|可以|嗯+|哦+|是的?|对的?|没错|明白(?:了)?|知道了|了解(?:了)?|收到|太好了|很好|不错|真棒|厉害|哈+|呵呵|原来如此|听起来不错
      | 你(?:最近)?(?:怎么样|好吗)|最近(?:怎么样|好吗)|我(?:很好|挺好的?)|辛苦了|周末愉快|祝你?(?:愉快|好运)|今天|天气|真|啊|呀|吧|呢|了|的|你
    )[\W_]*+)++$""",
    re.IGNORECASE | re.VERBOSE,
)

# An assistant's offers and closing words sound like commitments.
OFFER = _any(
    r"\blet me know\b|\bi(?:'ll| will| can) (?:help|explain|show|try|be happy|walk you|give you)\b|\bhappy to help\b|\bwould you like\b",
    r"\bsag(?:en sie)? (?:mir )?(?:einfach )?bescheid\b|\bkann ich (?:dir|ihnen)\b|\bmöchtest du\b|\bmöchten sie\b|\bich helfe\b",
    r"需要我|我可以(?:帮|为)|随时(?:告诉|问)|希望(?:对你|这)|我来帮",
)
