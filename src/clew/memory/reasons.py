"""Why an entry was found, in words a person can check."""

from collections.abc import Sequence
from typing import Final

from clew.memory.analysis import stem
from clew.memory.question import Question
from clew.memory.ranking import USER_ROLES, WORDS_WINDOW, Scores
from clew.memory.reading import Lexicon
from clew.memory.stream import Stream

# A scaled term that is at least this high is worth telling.
_WORTH_TELLING: Final = 0.6


def reasons(
    question: Question, stream: Stream, scores: Scores, order: Sequence[int], lexicon: Lexicon
) -> list[list[str]]:
    """For each row in `order` its reasons, the plainest first."""
    wide = stream.widened(WORDS_WINDOW)
    told = []
    for n in order:
        own = set(stream.stems[stream.start[n] : stream.end[n]].tolist())
        around = set(stream.stems[wide.low[n] : wide.high[n]].tolist())
        words = {word: lexicon.stem_number(stem(word) or "") for word in dict.fromkeys(question.words) if stem(word)}
        said = [word for word, number in words.items() if number in own]
        near = [word for word, number in words.items() if number in around - own]
        found = [f"says {', '.join(said)}"] if said else []
        found += [f"neighbours say {', '.join(near)}"] if near else []
        found += _terms(scores, stream, n)
        told.append(found or ["nearest of what there is"])
    return told


def _terms(scores: Scores, stream: Stream, n: int) -> list[str]:
    row = stream.rows[n]
    terms = {name: float(values[n]) for name, values in scores.terms.items()}
    meaning = max(terms["meaning"], terms.get("space_meaning", 0.0))
    found = [f"near in meaning ({meaning:.2f})"] if meaning >= _WORTH_TELLING else []
    if terms["speaker"]:
        found.append("said by the user" if row.speaker_key in USER_ROLES else f"said by {row.speaker}")
    if terms["date"] and row.month:
        found.append(f"dated {row.month[0]}-{row.month[1]:02d}")
    if terms["time"]:
        found.append("tells a time")
    if terms["answer"] >= _WORTH_TELLING:
        found.append("answers a question just before it")
    return found
