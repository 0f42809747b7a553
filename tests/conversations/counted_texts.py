"""Forty texts and what they cost in tokens, to measure estimates by.

The numbers are those of tiktoken 0.14 with the encoding o200k_base, whose file had the digest that tiktoken asks of
it. They are kept here because the file is not on every machine; where it is, `test_counted_texts` counts again.
"""

from mnemoir.core.conversations import MediaPart, Message, TextPart, ToolCall

ENGLISH = {
    "I have moved to Lisbon in March and I am still looking for a flat near the river with two bedrooms.": 22,
    "Could you remind me to call the dentist on Thursday, before they close at five in the afternoon?": 20,
    "The meeting was moved twice, so nobody knew whether the numbers for the last quarter were final.": 19,
    "We decided to keep the old database for another year, because moving it would cost more than it saves.": 21,
    "My daughter is allergic to nuts, and we always read the small print on every packet we buy.": 20,
    "Thanks, that was helpful. What would you change if the budget were only half of what we have now?": 22,
    "When the train arrived, it was already dark, and the last bus to the village had left an hour before.": 23,
    "Please write a short and friendly letter to the landlord about the broken heating in the kitchen.": 18,
    "Yes, I'd say so.": 6,
    "Order 48-1193 was shipped on 12 May 2025; it should reach Porto in 3 to 5 days, customs included.": 31,
    "The report was late again, which is why the committee asked for a shorter one and a firm date.": 21,
    "1. Boil the water.\n2. Add salt and the pasta.\n3. Wait nine minutes.\n4. Drain, and serve with the sauce.": 31,
}
CODE = {
    """\
def mean(values):
    total = 0.0
    for value in values:
        total += value
    return total / len(values)
""": 30,
    """\
SELECT name, count(*) AS visits FROM guests
WHERE arrived_at >= '2025-01-01' GROUP BY name ORDER BY visits DESC;
""": 30,
    """\
async function load(url) {
  const response = await fetch(url);
  if (!response.ok) {
    throw new Error(`status ${response.status}`);
  }
  return response.json();
}
""": 39,
    """\
class Basket:
    def __init__(self, owner):
        self.owner = owner
        self.items = []

    def add(self, item, count=1):
        self.items.append((item, count))
""": 43,
    """\
for file in *.log; do
  gzip --best "$file" && mv "$file.gz" archive/
done
""": 25,
    """\
<ul class="results">
  <li><a href="/notes/17">Rent</a></li>
  <li><a href="/notes/18">Garden</a></li>
</ul>
""": 42,
    """\
{"name": "Ann", "age": 41, "languages": ["Portuguese", "English"],
 "address": {"city": "Porto", "street": "Rua das Flores"}}
""": 41,
    """\
fn longest<'a>(left: &'a str, right: &'a str) -> &'a str {
    if left.len() >= right.len() {
        left
    } else {
        right
    }
}
""": 45,
    """\
Traceback (most recent call last):
  File "app/main.py", line 42, in run
    result = handler(request)
KeyError: 'session_id'
""": 35,
    """\
server:
  host: 127.0.0.1
  port: 8080
logging:
  level: info
  file: /var/log/app.log
""": 37,
}
CJK = {
    "私は三月に東京へ引っ越しました。川の近くで部屋を探しています。": 22,
    "木曜日に歯医者へ電話することを忘れないように教えてください。": 21,
    "会議は二回も変更されたので、最終的な数字を知っている人はいませんでした。": 24,
    "我三月份搬到了上海，现在还在找一套靠近河边的两居室公寓。": 23,
    "会议改了两次时间，所以没有人知道上个季度的数字是不是最终的。": 19,
    "請幫我寫一封簡短而友善的信給房東，說明廚房的暖氣壞了。": 30,
    "저는 삼월에 서울로 이사했고 강 근처의 집을 찾고 있습니다.": 20,
    "목요일에 치과에 전화하는 것을 잊지 않게 알려 주세요.": 17,
    "우리는 데이터베이스를 일 년 더 유지하기로 결정했습니다.": 15,
}
EMOJI = {
    "See you at eight 🎉🎉": 8,
    "👍🏽": 3,
    "🇵🇹 won 2:1 ⚽️🔥😭": 14,
    "👩\u200d👩\u200d👧\u200d👦 family picnic 🧺": 16,
}
# of the name and the arguments together
CALLS = [
    (ToolCall("c", "search", {"query": "flats near the river in Lisbon", "rooms": 2}), 19),
    (ToolCall("c", "send_mail", {"to": "ann@example.org", "text": "I come at nine, and I bring the key."}), 26),
    (ToolCall("c", "look_up", {"ort": "京都", "datum": "2025-04-01"}), 19),
]
# of the text alone; what the file costs is no matter of an encoder
FILES = [
    (MediaPart(type="image", mime_type="image/png", base64_data="A" * 400_000), "What is wrong with this boiler?", 7),
    (MediaPart(type="document", url="https://example.org/lease.pdf", tokens=1200), "How long is the notice?", 6),
]


def messages_of(texts: dict[str, int]) -> list[tuple[Message, int]]:
    """A message for each text, and the tokens of the text."""
    return [(Message("user", text), tokens) for text, tokens in texts.items()]


def call_messages() -> list[tuple[Message, int]]:
    return [(Message("assistant", None, tool_calls=[call]), tokens) for call, tokens in CALLS]


def file_messages() -> list[tuple[Message, int]]:
    return [(Message("user", [file, TextPart(text)]), tokens) for file, text, tokens in FILES]
