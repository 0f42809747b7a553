"""Decides whether the user's own words bear out what a fact changes.

A memory that the user told is changed only by a fact with a witness: a clause that the user says of the fact's
person, and that tells what is new in it. Comparing words alone cannot tell a move from the wife's home, nor can
vectors; so the reading of the clause says who it is about, and only what is new is compared.

Two things stand in for a clause: the assistant's sentence that the user agreed to, and what the assistant records as
done. A word that refers to what was said before ("there", "that one") lets the new value stand in the two turns
before.

All is computed from the turns and from cosines that are given; where there are none, what needs them does not hold.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice

from mnemoir.core.sentences import sentences_of
from mnemoir.memory.facts.decide.matters import contradicts, matter_of
from mnemoir.memory.facts.decide.spoken_words import (
    Vocabulary,
    Word,
    groups_in,
    initials_in,
    near_spellings,
    numbers_in,
    plain_words,
    spoken_words,
    vocabulary_of,
)
from mnemoir.memory.facts.decide.witness_words import (
    NAMES,
    begins_with,
    content_words,
    grounded_pieces,
    has,
    is_denial_of,
    names_in,
)
from mnemoir.memory.facts.extract.requests import Turn
from mnemoir.memory.facts.reading.clauses import Clause, clauses_of, kind_of
from mnemoir.memory.facts.reading.kinds import languages_of
from mnemoir.memory.facts.reading.own_name import as_of_user
from mnemoir.memory.facts.reading.persons import About, about, people_in, statement_behind

SAME_SUBJECT = 0.30  # cosine from which a clause tells of a fact that has no names and no numbers
SAME_NEWS = 0.45  # from which it tells a fact of another language, or a denial
UNLIKE = 0.20  # below which a fact has nothing to do with a clause
_MOST_CLAUSES = 4000
_MOST_COMPARED = 20  # clauses whose cosine to a fact is asked for, those nearest by words
_FEW_WORDS = 7  # of a turn that agrees
_TURNS_BEFORE = 2  # in which a value may stand that a clause refers to
_USER = About("user", is_told=True)

Likeness = Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a fact tells that a memory does not: whom it is about, and the words and numbers that are new in it."""

    fact: str
    memory: str
    names: tuple[Word, ...]
    numbers: frozenset[str]
    words: tuple[Word, ...]
    denies: bool
    is_fuller: bool  # it has all words of the memory, and more
    is_naming: bool  # it replaces a name


@dataclass(frozen=True, slots=True, kw_only=True)
class _Evidence:
    """A clause that may be a witness. `before` is what was said two turns before it, and in the sentence before."""

    clause: Clause
    own: Vocabulary
    before: Sequence[Vocabulary]


def change_of(fact: str, memory: str) -> Change:
    """What is new in a fact beside a memory; all of it beside ""."""
    return _change_of(as_of_user(fact), as_of_user(memory))


@lru_cache(maxsize=4096)
def _change_of(fact: str, memory: str) -> Change:
    said, held = statement_behind(fact), statement_behind(memory)
    known = frozenset(form for word in spoken_words(held) for form in word.forms)
    new = tuple(word for word in content_words(said) if word.forms.isdisjoint(known))
    kept = [word for word in content_words(held) if word.forms.isdisjoint(_forms(said))]
    return Change(
        fact=said,
        memory=held,
        names=tuple(word for word in names_in(said) if word.forms.isdisjoint(known)),
        numbers=numbers_in(said, unsure=False) - numbers_in(held),
        words=new or tuple(content_words(said)),
        denies=has("ends", said),
        is_fuller=bool(held and new) and not kept and numbers_in(held) <= numbers_in(said),
        is_naming=matter_of(held).slot in NAMES and matter_of(said).slot in NAMES,
    )


def is_about_same(fact: str, memory: str) -> bool:
    """True when both are about the same person, one names the person of the other, or both cannot hold."""
    said, held = about(statement_behind(fact)), about(statement_behind(memory))
    if said.who == held.who and said.words == held.words:
        return True
    named = [(of, text) for of, text in ((said, memory), (held, fact)) if of.words]
    are_named = bool(named) and all(not of.words.isdisjoint(people_in(text)) for of, text in named)
    return are_named or contradicts(fact, memory)


class Witnesses:
    """What the user says in the turns of an add, with the turns before them as context."""

    def __init__(
        self,
        turns: Sequence[Turn],
        context: Sequence[Turn] = (),
        likeness: Likeness | None = None,
        *,
        are_read_by_rule: bool = False,
    ) -> None:
        """`likeness` has cosines by fact and text of a clause; a pair without one is not compared.

        Facts that `are_read_by_rule` come from the user's own clauses: only a name needs its phrase then.
        """
        self.are_read_by_rule = are_read_by_rule
        self._said = [turn for turn in (*context, *turns) if turn.role in ("user", "assistant")]
        self._begin = len(self._said) - sum(turn.role in ("user", "assistant") for turn in turns)
        self._likeness = likeness or {}
        self._known: dict[tuple[str, str], bool] = {}

    def with_likeness(self, likeness: Likeness) -> "Witnesses":
        """The same with these cosines. What was read is not read again."""
        other = Witnesses(
            self._said[self._begin :], self._said[: self._begin], likeness, are_read_by_rule=self.are_read_by_rule
        )
        other.__dict__ |= {name: self.__dict__[name] for name in _READ if name in self.__dict__}
        return other

    def stands(self, fact: str, memory: str = "") -> bool:
        """True when a witness bears out what the fact tells beside the memory."""
        key = fact, memory
        if key not in self._known:
            change = change_of(fact, memory)
            self._known[key] = self._names_itself(change) if self.are_read_by_rule else self._has_witness(change)
        return self._known[key]

    def _names_itself(self, change: Change) -> bool:
        return not change.is_naming or any(has("naming", evidence.clause.sentence) for evidence in self._evidence)

    @cached_property
    def asserts(self) -> bool:
        """True when the user says anything of themselves, or agrees to something."""
        own = (clause for clause in self._clauses if clause.kind == "said" and clause.about.who == "user")
        return bool(self._agreements) or any(
            clause.about.is_told or matter_of(statement_behind(clause.text)).slot for clause in own
        )

    def is_ungrounded(self, fact: str) -> bool:
        """True when nothing of the fact was said by anybody, and the user says nothing of themselves."""
        if self.are_read_by_rule or self.asserts or self._shares_word(fact):
            return False
        bare = statement_behind(fact)
        known = [self._likeness.get((bare, clause.text)) for clause in self._nearest(fact)]
        return bool(known) and all(cosine is not None and cosine < UNLIKE for cosine in known)

    def grounded_part(self, fact: str, memory: str) -> str:
        """The fact without pieces of it that have a new word nobody said; the fact itself when none is left."""
        return grounded_pieces(fact, memory, self._all) or fact

    def questions(self, facts: Iterable[str], memories: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
        """The pairs of fact and clause whose cosine may decide: `memories` has those that each fact may change."""
        return [
            (statement_behind(fact), clause.text)
            for fact in facts
            if not all(self.stands(fact, memory) for memory in memories.get(fact, ()))
            or self._may_be_ungrounded(fact)
            for clause in self._nearest(fact)
        ]

    def _may_be_ungrounded(self, fact: str) -> bool:
        return not self.asserts and not self._shares_word(fact)

    def _shares_word(self, fact: str) -> bool:
        named = bool(groups_in(plain_words(fact)).keys() & self._all.groups)
        is_said = any(self._all.has_word(word) for word in content_words(fact))
        return is_said or named or not numbers_in(fact, unsure=False).isdisjoint(self._all.numbers)

    def _has_witness(self, change: Change) -> bool:
        if not is_about_same(change.fact, change.memory) and change.memory:
            return False
        if any(self._bears_out(evidence, change) for evidence in self._candidates(change)):
            return True
        return any(self._bears_out(evidence, change) for evidence in self._stand_ins(change))

    def _candidates(self, change: Change) -> list[_Evidence]:
        """The clauses that have a new word of the change, refer to one, or are like it."""
        new = {form for word in (*change.names, *change.words) for form in word.forms}
        forms = {each for form in new for each in near_spellings(form)}
        forms |= change.numbers | groups_in(plain_words(change.fact)).keys()
        forms |= initials_in(spoken_words(change.fact))
        places = {place for form in forms for place in self._places.get(form, ())}
        places |= self._references | (self._denials if change.denies else set())
        places |= {at for at, one in enumerate(self._evidence) if (change.fact, one.clause.text) in self._likeness}
        return [self._evidence[place] for place in sorted(places)]

    def _bears_out(self, evidence: _Evidence, change: Change) -> bool:
        clause, kind = evidence.clause, kind_of(change.fact)
        if clause.kind not in ("said", kind) or not self._is_about(evidence, change):
            return False
        if change.is_naming and not has("naming", clause.sentence):
            return False
        if _is_liking(clause.text) and not _is_liking(change.fact):
            return False
        return self._tells(evidence, change)

    def _is_about(self, evidence: _Evidence, change: Change) -> bool:
        of, named = evidence.clause.about, people_in(change.fact)
        if of.who == "user":
            return True
        if of.who == "third":
            others = about(change.fact).words
            return bool(others) and any(each.has_word(word) for each in evidence.before for word in _words(others))
        return not of.words.isdisjoint(named)

    def _tells(self, evidence: _Evidence, change: Change) -> bool:
        """True when the clause tells what is new in the change."""
        cosine = self._likeness.get((change.fact, evidence.clause.text), -1.0)
        refers = has("refers", evidence.clause.sentence)
        sources = [evidence.own, *evidence.before] if refers else [evidence.own]
        missing = [word for word in change.names if not _is_named(word, change.fact, sources)]
        if missing and not (_differ_in_language(change.fact, evidence.clause.text) and cosine >= SAME_NEWS):
            return False
        if any(number not in source_numbers for number in change.numbers for source_numbers in [_numbers(sources)]):
            return False
        if change.denies:
            word_of_memory = any(evidence.own.has_word(word) for word in content_words(change.memory))
            denial = has("ends", evidence.clause.sentence) and (word_of_memory or refers)
            return denial or cosine >= SAME_NEWS
        if change.names or change.numbers:
            return not is_denial_of(evidence.clause.text, change.names) and not self._adds(change, sources, evidence)
        is_told = any(_is_named(word, change.fact, [evidence.own]) for word in change.words)
        return (is_told and not self._adds(change, sources, evidence)) or cosine >= SAME_SUBJECT

    def _adds(self, change: Change, sources: Sequence[Vocabulary], evidence: _Evidence) -> bool:
        """True for a fuller wording of the memory with a word that was not said."""
        if not change.is_fuller or _differ_in_language(change.fact, evidence.clause.text):
            return False
        return not all(_is_named(word, change.fact, sources) for word in change.words)

    def _nearest(self, fact: str) -> list[Clause]:
        """The user's clauses nearest to the fact by words, those said last first among equals."""
        forms = _forms(fact)
        ranked = sorted(enumerate(self._evidence), key=lambda pair: (-len(forms & pair[1].own.forms), -pair[0]))
        return [evidence.clause for _, evidence in ranked[:_MOST_COMPARED]]

    @cached_property
    def _clauses(self) -> list[Clause]:
        return [evidence.clause for evidence in self._evidence]

    @cached_property
    def _evidence(self) -> list[_Evidence]:
        """The clauses of the user in the turns of the add, each once."""
        found: dict[tuple[str, str], _Evidence] = {}
        for at, turn in enumerate(self._said[self._begin :], start=self._begin):
            if turn.role == "user":
                before = vocabulary_of(each.text for each in self._said[max(0, at - _TURNS_BEFORE) : at])
                for evidence in islice(_evidence_in(turn.text, before), _MOST_CLAUSES - len(found)):
                    found.setdefault((evidence.clause.text, evidence.clause.kind), evidence)
        return list(found.values())

    @cached_property
    def _places(self) -> Mapping[str, Sequence[int]]:
        """Where each form, number and thing stands among the clauses."""
        places: dict[str, list[int]] = {}
        for at, evidence in enumerate(self._evidence):
            own = evidence.own
            for form in own.forms | own.spellings | own.numbers | own.groups:
                places.setdefault(form, []).append(at)
        return places

    @cached_property
    def _references(self) -> set[int]:
        return {at for at, evidence in enumerate(self._evidence) if has("refers", evidence.clause.sentence)}

    @cached_property
    def _denials(self) -> set[int]:
        return {at for at, evidence in enumerate(self._evidence) if has("ends", evidence.clause.sentence)}

    @cached_property
    def _all(self) -> Vocabulary:
        return vocabulary_of(turn.text for turn in self._said)

    @cached_property
    def _agreements(self) -> Sequence[_Evidence]:
        """The assistant's sentences about the user that the user agrees to."""
        return [
            _evidence_of(sentence)
            for at in range(self._begin, len(self._said))
            if self._said[at].role == "user" and at and self._said[at - 1].role == "assistant"
            if _agrees(self._said[at].text)
            for sentence in _about_the_user(self._said[at - 1].text)
        ]

    @cached_property
    def _records(self) -> Sequence[_Evidence]:
        """What the assistant records as done in the turns of the add."""
        answers = [turn.text for turn in self._said[self._begin :] if turn.role == "assistant"]
        found = (each for text in answers for each in sentences_of(text) if begins_with("done", each))
        return [_evidence_of(each) for each in islice(found, _MOST_CLAUSES)]

    def _stand_ins(self, change: Change) -> Sequence[_Evidence]:
        """The sentences of the assistant that count as the user's for this change."""
        if not self._records:
            return self._agreements
        is_asked = any(self._own.has_word(word) for word in content_words(change.memory))
        return [*self._agreements, *self._records] if is_asked else self._agreements

    @cached_property
    def _own(self) -> Vocabulary:
        return vocabulary_of(turn.text for turn in self._said if turn.role == "user")


_READ = (
    "_clauses",
    "_evidence",
    "_places",
    "_references",
    "_denials",
    "_all",
    "_agreements",
    "_records",
    "_own",
    "asserts",
)


def _evidence_in(text: str, before: Vocabulary) -> Iterator[_Evidence]:
    """The clauses of a turn; the sentence before a clause is what it refers to, too."""
    earlier, sentence = Vocabulary(), ""
    for clause in clauses_of(text):
        if sentence and clause.sentence != sentence:
            earlier = vocabulary_of([sentence])
        sentence = clause.sentence
        yield _Evidence(clause=clause, own=vocabulary_of([clause.text]), before=(before, earlier))


def _evidence_of(sentence: str) -> _Evidence:
    """A sentence that counts as the user's about themselves."""
    clause = Clause(text=sentence, sentence=sentence, kind=kind_of(sentence), about=_USER)
    return _Evidence(clause=clause, own=vocabulary_of([sentence]), before=())


def _is_liking(statement: str) -> bool:
    """True for a statement of what one likes: "I love Linz" tells of no move."""
    return matter_of(statement).slot == "liking"


def _agrees(text: str) -> bool:
    is_short = len(text.split()) <= _FEW_WORDS and not text.rstrip().endswith("?")
    return is_short and begins_with("yes", text) and not has("yet", text)


def _about_the_user(answer: str) -> list[str]:
    """The sentences that speak of "you"; none of an answer that offers something."""
    sentences = list(sentences_of(answer))
    if any(has("offer", each) for each in sentences):
        return []
    return [each for each in sentences if has("you", each)]


def _is_named(word: Word, fact: str, sources: Sequence[Vocabulary]) -> bool:
    if any(source.has_word(word) for source in sources):
        return True
    plain = plain_words(fact)
    groups = {group for group, places in groups_in(plain).items() if any(plain[at] in word.forms for at in places)}
    runs = {run for run in initials_in(spoken_words(fact)) if word.text[:1].casefold() in run}
    is_short = any(word.text.casefold() in source.initials for source in sources)
    return is_short or any(groups & source.groups or runs & source.forms for source in sources)


def _numbers(sources: Sequence[Vocabulary]) -> frozenset[str]:
    return frozenset(number for source in sources for number in source.numbers)


def _differ_in_language(one: str, other: str) -> bool:
    return set(languages_of(one)).isdisjoint(languages_of(other))


def _forms(text: str) -> frozenset[str]:
    return frozenset(form for word in spoken_words(text) for form in word.forms)


def _words(names: Iterable[str]) -> list[Word]:
    return [word for name in names for word in spoken_words(name)]
