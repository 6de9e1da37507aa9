"""A model's reading and ours, sentence by sentence: where they agree ours stands, and nothing that was said is lost."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from clew.memory.analysis import content_stems, words
from clew.memory.knowledge.extract import Draft, same_value
from clew.memory.knowledge.extract.phrases import clipped
from clew.memory.knowledge.extract.reader import UNPARSED
from clew.memory.knowledge.modelled.drafting import Placed
from clew.memory.knowledge.modelled.grounding import stems

SPARE_WORDS_MAX: Final = 1


def merged(ours: Sequence[Draft], read: Sequence[Placed]) -> list[Draft]:
    """The drafts of an episode in the order it was told; what the model left out is as we read it."""
    groups: dict[tuple[str | None, str], list[Draft]] = {}
    for draft in ours:
        groups.setdefault((draft.message_id, draft.evidence), []).append(draft)
    theirs: dict[tuple[str | None, str], list[Draft]] = {}
    for one in read:
        keys = [(one.draft.message_id, sentence) for sentence in one.sentences]
        key = next((key for key in keys if key in groups), (one.draft.message_id, one.draft.evidence))
        theirs.setdefault(key, []).append(one.draft)
        groups.setdefault(key, [])
    return [draft for key, group in groups.items() for draft in _of_sentence(group, theirs.get(key, []))]


def _of_sentence(ours: Sequence[Draft], theirs: Sequence[Draft]) -> list[Draft]:
    if not theirs:
        return list(ours)
    kept: dict[tuple[str, str, bool], Draft] = {}
    settled: list[Draft] = []
    for draft in theirs:
        same = next((one for one in ours if _agree(one, draft)), None)
        settled += [same] if same is not None else []
        told = draft if same is None else _joined(same, draft)
        kept.setdefault((told.slot, told.value, told.negated), told)
    spare = [one for one in ours if one not in settled]
    others = [one for one in spare if one.subject is not None and not _replaced(one, theirs)]
    found = [*kept.values(), *others]
    return [*found, *_as_texts((one for one in spare if one not in others), found)]


def _agree(ours: Draft, theirs: Draft) -> bool:
    """Whether both read one thing. Then ours stands: what is told again without the model will be read so too.

    The model may leave out a word of what it is about, such as whose it is. When we have more words than one on top of
    its own, we have taken in some that don't belong there.
    """
    if ours.subject is None or ours.negated != theirs.negated:
        return False
    if not same_value(ours.value, ours.object, theirs.value, theirs.object):
        return False
    mine, other = set(ours.topic.split()), set(theirs.topic.split())
    of_one_kind = ours.slot.rpartition("/")[2] == theirs.slot.rpartition("/")[2]
    if of_one_kind:
        return other <= mine and len(mine - other) <= SPARE_WORDS_MAX
    return mine == other and not ours.single and not theirs.single


def _joined(ours: Draft, theirs: Draft) -> Draft:
    """Our reading, with what the model saw beside it."""
    return replace(
        ours,
        single=theirs.single if ours.slot == theirs.slot else ours.single,
        denied=ours.denied or theirs.denied,
        valid_at=ours.valid_at or theirs.valid_at,
        invalid_at=ours.invalid_at or theirs.invalid_at,
    )


def _replaced(ours: Draft, theirs: Iterable[Draft]) -> bool:
    return any(one.topic == ours.topic or same_value(one.value, one.object, ours.value, ours.object) for one in theirs)


def _as_texts(unused: Iterable[Draft], kept: Sequence[Draft]) -> list[Draft]:
    """What no kept draft says in full stays as a text that is found, and contradicts nothing."""
    said = {stem for one in kept for stem in stems(one.text)}
    return [
        Draft(
            one.text,
            slot=clipped("= " + " ".join(content_stems(words(one.text)))),
            confidence=UNPARSED,
            message_id=one.message_id,
            role=one.role,
            evidence=one.evidence,
        )
        for one in unused
        if not stems(one.text) <= said
    ]
