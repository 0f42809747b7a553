"""Rules that check a model's proposals before they reach the store, each for a failure seen in practice.

`defend` applies them in order and returns a plan. A plan never changes a memory that was not shown, loses a fact,
or deletes without a new fact as the reason.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from mnemoir.core.text import content_hash
from mnemoir.memory.facts.decide.grounds import Grounds, closest
from mnemoir.memory.facts.decide.matters import is_known
from mnemoir.memory.facts.decide.reasons import closes, kept_whole
from mnemoir.memory.facts.decide.reconciliation import (
    Candidate,
    Proposal,
    claims,
    facts_without_proposal,
    proposal_by_fact,
)
from mnemoir.memory.facts.decide.resemblance import is_part_of, same_statement
from mnemoir.memory.facts.decide.witness import Witnesses
from mnemoir.memory.facts.extract.requests import MOST_CHARACTERS
from mnemoir.privacy.secrets import holds_secret

_MASS = 5
_MASS_SHARE = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The changes to make. Numbers index the candidates, and for `removes` also the adds (None: no single one).

    `refused` counts rejected proposals by rule. Of the adds, `unsure` are those that nobody's words bear out, and
    `unconfirmed` those that contradict a memory besides; they wait for a person.
    """

    adds: Sequence[str]
    updates: Sequence[tuple[int, str]]
    removes: Sequence[tuple[int, int | None]]
    known: Sequence[int]
    refused: Counter[str]
    unsure: frozenset[int] = frozenset()
    unconfirmed: frozenset[int] = frozenset()


def defend(
    facts: Sequence[str],
    candidates: Sequence[Candidate],
    proposals: Sequence[Proposal],
    *,
    total: int,
    taken: Collection[bytes] = (),
    witnesses: Witnesses | None = None,
) -> Plan:
    """The plan that follows `proposals` as far as is safe.

    `total` is how many memories the user has, where there `may_be_many` changes; `taken` are hashes of proposed texts
    that some memory already has.
    With `witnesses`, what the user told is changed only by a fact with a witness, and then as was decided; without
    them the facts are taken as the user's own words, and a change needs a reason in its wording.
    """
    refused: Counter[str] = Counter()
    grounds = Grounds(facts, candidates, witnesses)
    kept = sane(proposals, refused)
    kept = known_ids(kept, facts, candidates, refused)
    kept = one_change_each(kept, refused)
    kept = [with_words_of_fact(proposal, facts, candidates, refused) for proposal in kept]
    kept = [without_unrelated_merge(proposal, facts, candidates, refused) for proposal in kept]
    kept = grounds.borne_out(kept, refused)
    kept = [whole(proposal, facts, candidates, refused, grounds) for proposal in kept]
    kept = without_inventions(distinct(kept, candidates, taken, refused), facts, refused)
    by = proposal_by_fact(facts, candidates, kept)
    adds, added = _adds(facts, kept, by)
    news = {fact for fact in range(len(facts)) if fact in added or kept[by[fact]].event == "UPDATE"}
    removes = one_deletion_each(deletes_with_reason(kept, facts, candidates, news, refused, grounds), refused)
    removes = no_mass_deletion(removes, total, refused)
    plan = Plan(
        adds=adds,
        updates=[(p.at, p.text) for p in kept if p.event == "UPDATE" and p.at is not None],
        removes=[(at, added.get(fact)) for at, fact in removes],
        known=_unchanged_candidates(kept),
        refused=refused,
    )
    return plan if witnesses is None else _with_doubts(plan, added, grounds)


def _with_doubts(plan: Plan, added: Mapping[int, int], grounds: Grounds) -> Plan:
    """The plan without adds that have no ground at all, the doubtful ones marked."""
    changed = {at for at, _ in (*plan.updates, *plan.removes)}
    behind = {add: [fact for fact, of in added.items() if of == add] for add in range(len(plan.adds))}
    reasons = {add for _, add in plan.removes}
    doubts = {add: grounds.doubt_of(behind[add], changed) for add in behind if add not in reasons}
    kept = [add for add in behind if doubts.get(add) != "ungrounded"]
    plan.refused["ungrounded"] += len(behind) - len(kept)
    place = {add: at for at, add in enumerate(kept)}
    return replace(
        plan,
        adds=[grounds.said_part(plan.adds[add], behind[add]) if add in doubts else plan.adds[add] for add in kept],
        removes=[(at, None if add is None else place[add]) for at, add in plan.removes],
        unsure=frozenset(place[add] for add in kept if doubts.get(add) == "unsure"),
        unconfirmed=frozenset(place[add] for add in kept if doubts.get(add) == "unconfirmed"),
    )


def sane(proposals: Sequence[Proposal], refused: Counter[str]) -> list[Proposal]:
    """The proposals without texts that may not be stored: empty, over 2,000 characters, secret. DELETE needs none."""
    kept = [p for p in proposals if p.event in ("DELETE", "NONE") or _storable(p.text)]
    refused["reconcile_bad_text"] += len(proposals) - len(kept)
    return kept


def known_ids(
    proposals: Sequence[Proposal], facts: Sequence[str], candidates: Sequence[Candidate], refused: Counter[str]
) -> list[Proposal]:
    """An ADD loses its id. An UPDATE of an unknown id becomes an ADD, or a NONE if it is known already.

    A DELETE or NONE of an unknown id is ignored.
    """
    kept = []
    for proposal in proposals:
        if proposal.event == "ADD":
            kept.append(replace(proposal, at=None))
        elif proposal.at is not None:
            kept.append(proposal)
        else:
            refused["reconcile_unknown_id"] += 1
            kept += _replacement_of(proposal, facts, candidates)
    return kept


def one_change_each(proposals: Sequence[Proposal], refused: Counter[str]) -> list[Proposal]:
    """Keep at most one change per memory: the last UPDATE, else the first DELETE; NONE gives way to both."""
    chosen: dict[int, Proposal] = {}
    for proposal in proposals:
        held = chosen.get(proposal.at) if proposal.at is not None else None
        outranked = held is not None and _RANK[proposal.event] <= _RANK[held.event] and proposal.event != "UPDATE"
        if proposal.at is not None and not outranked:
            chosen[proposal.at] = proposal
    kept = [p for p in proposals if p.at is None or p is chosen[p.at] or p.event == "NONE" == chosen[p.at].event]
    refused["reconcile_second_change"] += len(proposals) - len(kept)
    return kept


def with_words_of_fact(
    proposal: Proposal, facts: Sequence[str], candidates: Sequence[Candidate], refused: Counter[str]
) -> Proposal:
    """Replace the text of an UPDATE that repeats the stored text by its fact; NONE when the fact is known already."""
    if proposal.event != "UPDATE" or proposal.at is None:
        return proposal
    stored = candidates[proposal.at].memory.text
    if content_hash(proposal.text) != content_hash(stored):
        return proposal
    refused["reconcile_old_text"] += 1
    fact = closest(candidates[proposal.at], facts, range(len(facts)))
    if fact is None or any(is_part_of(fact_text, stored) for fact_text in facts):
        return replace(proposal, event="NONE")
    return replace(proposal, text=facts[fact])


def without_unrelated_merge(
    proposal: Proposal, facts: Sequence[str], candidates: Sequence[Candidate], refused: Counter[str]
) -> Proposal:
    """Turn an UPDATE that would join its memory with an unrelated fact into an ADD of that fact."""
    if proposal.event != "UPDATE" or proposal.at is None:
        return proposal
    behind = list(claims(proposal.text, facts))
    if not behind or closest(candidates[proposal.at], facts, behind) is not None:
        return proposal
    refused["reconcile_unrelated_merge"] += 1
    return replace(proposal, event="ADD", at=None, text=facts[behind[0]])


def whole(
    proposal: Proposal,
    facts: Sequence[str],
    candidates: Sequence[Candidate],
    refused: Counter[str],
    grounds: Grounds | None = None,
) -> Proposal:
    """An UPDATE that would drop a claim without a reason becomes an ADD, or a NONE if its memory says more.

    One that has a reason to drop a claim keeps the others. With a witness the decision is the reason.
    """
    if proposal.event != "UPDATE" or proposal.at is None:
        return proposal
    stored, behind = candidates[proposal.at].memory.text, [facts[at] for at in claims(proposal.text, facts)]
    text = kept_whole(stored, proposal.text, behind)
    if text is not None and len(text) <= MOST_CHARACTERS:
        return replace(proposal, text=text)
    if text is None and grounds is not None and grounds.decides(proposal):
        return proposal
    refused["reconcile_claim_dropped"] += 1
    is_told = is_known(proposal.text, stored)
    return replace(proposal, event="NONE") if is_told else replace(proposal, event="ADD", at=None)


def distinct(
    proposals: Sequence[Proposal], candidates: Sequence[Candidate], taken: Collection[bytes], refused: Counter[str]
) -> list[Proposal]:
    """No two memories get one text: a second UPDATE to it becomes a DELETE, one to a shown text a NONE there.

    Else a text that is taken is not used at all; the facts behind it are added in their own words.
    """
    shown = {content_hash(candidate.memory.text): at for at, candidate in enumerate(candidates)}
    updated: set[bytes] = set()
    kept = []
    for proposal in proposals:
        key = content_hash(proposal.text)
        is_update = proposal.event == "UPDATE"
        if proposal.event == "ADD" and (key in shown or key in taken):
            refused["reconcile_text_taken"] += 1
        elif is_update and key in shown:
            kept.append(replace(proposal, event="NONE", at=shown[key]))
        elif is_update and key in taken:
            refused["reconcile_text_taken"] += 1
        else:
            kept.append(replace(proposal, event="DELETE") if is_update and key in updated else proposal)
            updated |= {key} if is_update else set()
    return kept


def without_inventions(proposals: Sequence[Proposal], facts: Sequence[str], refused: Counter[str]) -> list[Proposal]:
    """The proposals without texts that no fact supports: the model may rearrange facts, not invent them."""
    kept = [p for p in proposals if p.event in ("DELETE", "NONE") or claims(p.text, facts)]
    refused["reconcile_invented"] += len(proposals) - len(kept)
    return kept


def deletes_with_reason(
    proposals: Sequence[Proposal],
    facts: Sequence[str],
    candidates: Sequence[Candidate],
    news: set[int],
    refused: Counter[str],
    grounds: Grounds | None = None,
) -> list[tuple[int, int]]:
    """The DELETEs with a new fact as the reason, as (candidate, fact).

    A memory that a fact repeats without change is never deleted. With a witness any fact near the memory is a reason.
    """
    wanted = [p.at for p in proposals if p.event == "DELETE" and p.at is not None]
    kept = []
    for at in wanted:
        stored = candidates[at].memory.text
        repeated = any(is_part_of(fact, stored) for fact in facts)
        able = sorted(news) if grounds is None else [fact for fact in sorted(news) if grounds.may_change(fact, at)]
        reason = next((fact for fact in able if closes(facts[fact], stored)), None)
        if reason is None and grounds is not None and grounds.is_heard:
            reason = closest(candidates[at], facts, able)
        reason = None if repeated else reason
        if reason is not None:
            kept.append((at, reason))
    refused["reconcile_delete_without_reason"] += len(wanted) - len(kept)
    return kept


def one_deletion_each(removes: Sequence[tuple[int, int]], refused: Counter[str]) -> list[tuple[int, int]]:
    """The DELETEs of facts that delete one memory; a fact that would delete more is kept beside all of them."""
    count = Counter(fact for _, fact in removes)
    kept = [(at, fact) for at, fact in removes if count[fact] == 1]
    refused["reconcile_several_deletes"] += len(removes) - len(kept)
    return kept


def may_be_many(proposals: Sequence[Proposal]) -> bool:
    """Whether so many are changed that it counts how many memories the user has."""
    return sum(proposal.event in ("UPDATE", "DELETE") for proposal in proposals) > _MASS


def no_mass_deletion(removes: Sequence[tuple[int, int]], total: int, refused: Counter[str]) -> list[tuple[int, int]]:
    """None of the DELETEs, when they are more than 5 and over 30 % of what the user has."""
    if len(removes) > _MASS and len(removes) > _MASS_SHARE * total:
        refused["reconcile_mass_delete_blocked"] += len(removes)
        return []
    return list(removes)


_RANK = {"NONE": 0, "DELETE": 1, "UPDATE": 2, "ADD": 0}


def _storable(text: str) -> bool:
    return len(text) <= MOST_CHARACTERS and any(char.isalnum() for char in text) and not holds_secret(text)


def _replacement_of(proposal: Proposal, facts: Sequence[str], candidates: Sequence[Candidate]) -> list[Proposal]:
    """The replacement of an entry whose id was never shown; [] when it is dropped."""
    if proposal.event != "UPDATE":
        return []
    behind = claims(proposal.text, facts)
    for at, candidate in enumerate(candidates):
        cosine = max((candidate.cosines[fact] or 0.0 for fact in behind), default=None)
        if same_statement(proposal.text, candidate.memory.text, cosine or None):
            return [replace(proposal, event="NONE", at=at)]
    return [replace(proposal, event="ADD")]


def _adds(
    facts: Sequence[str], proposals: Sequence[Proposal], by: Mapping[int, int]
) -> tuple[list[str], dict[int, int]]:
    """The texts to add, each once, and for each fact the index of the text that states it."""
    texts: dict[bytes, int] = {}
    ordered: list[str] = []
    added: dict[int, int] = {}
    missing = set(facts_without_proposal(facts, by))
    for fact, own in enumerate(facts):
        text = own if fact in missing else proposals[by[fact]].text
        if fact not in missing and proposals[by[fact]].event != "ADD":
            continue
        key = content_hash(text)
        if key not in texts:
            texts[key] = len(ordered)
            ordered.append(text)
        added[fact] = texts[key]
    return ordered, added


def _unchanged_candidates(proposals: Sequence[Proposal]) -> list[int]:
    return list(dict.fromkeys(p.at for p in proposals if p.event == "NONE" and p.at is not None))
