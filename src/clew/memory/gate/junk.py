"""Text with nothing in it to keep."""

import re
from typing import Final

from clew.memory.analysis import STOP_WORDS
from clew.memory.gate.mashing import is_mash
from clew.memory.gate.spans import REMOVED

_WORD: Final = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_LETTER: Final = re.compile(r"[^\W\d_]")
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_URL: Final = re.compile(r"(?:https?://|www\.)[^\s<>\"]{1,2000}", re.IGNORECASE)
_BLOB: Final = re.compile(
    r"(?<![\w+/=-])(?:data:[\w/+.-]{3,60};base64,)?(?:[0-9a-fA-F]{32,}|(?:[0-9a-fA-F]{2}[ :]){15,}[0-9a-fA-F]{2}"
    r"|[\w+/-]{40,}={0,2}|[01]{24,})(?![\w+/=-])"
)
_FRAME: Final = re.compile(
    r"file \"[^\"\n]{1,200}\", line \d+(?:, in [^\s,]{1,80})?[^\n]{0,20}"
    r"|^\s{0,8}at [\w.$<>\[\] /*-]{1,150}\([^()\n]{0,200}\)"
    r"|^\s{0,8}at (?:async )?\S{1,200}:\d+:\d+|^#\d+\s+0x[0-9a-f]{6,16} in [^\n]{1,200}"
    r"|^\s{0,4}\d+: +0x[0-9a-f]{6,16} - [^\n]{1,200}"
    r"|goroutine \d+ \[\w[^\]\n]{0,40}\]:|^\S{1,200}\.go:\d+ \+0x[0-9a-f]+|traceback \(most recent call last\):"
    r"|stack backtrace:|^\s{0,8}(?:caused by|exception in thread)[^\n]{0,200}"
    r"|^\s{0,4}from \S{1,200}:\d+:in [^\n]{1,80}",
    re.IGNORECASE | re.MULTILINE,
)
_TAG: Final = re.compile(r"<[/!?]?[a-zA-Z][^<>]{0,1000}>|<!--|-->|&(?:[a-zA-Z]{2,10}|#\d{1,6});")
_CODE_OF_A_PAGE: Final = ("script", "style")

_FILLERS_LIST: Final = """
a abc ah aha alright and asdf bar baz blah blahblah boo btw bye cool da do dummy eh er erm example foo foobar gm gn
goodbye great ha haha hahaha hehe hello hey hi hm hmm hmmm huh it kk kthx l lgtm lol maybe me mhm mm mmm n n/a na
nah nan nice nil no none nope nothing null nvm of ok okay oh omg one oops placeholder please pls qux qwerty right
rofl sample message so sth sure tbd test tested tester testing tests text thanks thank thx ty the three to todo two
ugh uh uhm um undefined wow world xx xxx xyz ya yay yeah yep yes yo you yup ack noted perfect awesome sounds good
got gotcha welcome hola oi ola obrigado gracias merci danke salut hallo ciao sim si oui ja nein não 好的 谢谢 你好 是的
"""
_FILLERS: Final = frozenset(_FILLERS_LIST.split())
_TEST_WORD: Final = re.compile(r"(?:test|asdf|foo|abc|qwerty|dummy|hello)\d{1,6}")
_SMALL_COUNT: Final = re.compile(r"[0-9]{1,4}|[a-z]")
_BOILERPLATE: Final = re.compile(
    r"\W{0,6}(?:lorem ipsum\b.{0,3000}|(?:accept|reject|allow|manage) (?:all )?(?:cookies?|cookie (?:settings"
    r"|preferences))"
    r"|we use cookies\b.{0,300}|this (?:web)?site uses cookies\b.{0,300}"
    r"|(?:copyright|©|\(c\))[^.]{0,80}?all rights reserved|all rights reserved|skip to (?:main )?content"
    r"|cookie (?:settings|policy|preferences)|subscribe to our newsletter"
    r"|(?:please )?enable javascript\b.{0,120}|you need to enable javascript\b.{0,120}|loading|please wait"
    r"|click here\b.{0,40}"
    r"|(?:to )?unsubscribe\b.{0,120}|(?:40[0-9]|50[0-9]) (?:not found|forbidden|bad gateway|internal server error"
    r"|unauthorized"
    r"|service unavailable)|access denied|page not found|no results(?: found)?|page \d{1,4} of \d{1,4}|read more"
    r"|share this"
    r"|(?:sign|log) ?(?:in|up|out)(?: or (?:sign|log) ?(?:in|up))?|terms of service|privacy policy"
    r"|this (?:e-?mail|message)(?: and any attachments)? (?:is|are|may be) (?:strictly )?confidential\b.{0,800}"
    r"|good (?:morning|evening|afternoon|night|job|work|point|idea|question)|how are you(?: doing)?(?: today)?"
    r"|no problem"
    r"|no worries|of course|never ?mind|my bad|see you(?: later| soon)?|talk (?:to you )?later|will do|all good"
    r"|take care"
    r"|well done|i see|i agree|i understand|makes sense|that(?:'s| is) (?:right|correct)|exactly|absolutely"
    r"|definitely|pong|ping"
    r"|sent from my \w{1,20}|internal server error|something went wrong\b.{0,60}|no data(?: available)?"
    r"|end of (?:file|page))\W{0,6}",
    re.IGNORECASE | re.DOTALL,
)
_FRAMES_SHARE_MIN: Final = 0.4
_REPEATED_WORDS_MIN: Final = 12
_DISTINCT_SHARE_MIN: Final = 0.15
_BLOB_SHARE_MAX: Final = 0.95
_RUN: Final = re.compile(r"(.)\1{5,}", re.DOTALL)


def is_junk(text: str) -> bool:
    """Whether nothing in a text is worth keeping. Short facts, figures and other languages are worth it."""
    bare = REMOVED.sub(" ", text)
    if _BOILERPLATE.fullmatch(bare.strip()) or _is_dump(bare):
        return True
    said = _without_blobs(_without_markup(bare))
    words = _WORD.findall(said)
    if not words or _only_fillers(words) or _repeats(words):
        return True
    if len(words) == 1 and len(words[0]) == 1 and not (_UNSPACED.search(words[0]) and len(said.strip()) < 3):
        return True
    return _is_opaque_link(said) or _is_mashed(said)


def _is_dump(text: str) -> bool:
    """Whether it is mostly the frames of a stack."""
    frames = [match.group() for match in _FRAME.finditer(text)]
    if len(frames) < 2:
        return False
    lines = [line for line in text.splitlines() if line.strip()]
    covered = sum(map(len, frames)) / len(text.strip())
    return covered >= _FRAMES_SHARE_MIN or len(frames) / len(lines) >= _FRAMES_SHARE_MIN


def _without_markup(text: str) -> str:
    if "<" not in text and "&" not in text:
        return text
    for name in _CODE_OF_A_PAGE:
        text = _without_element(text, name)
    return _TAG.sub(" ", text)


def _without_element(text: str, name: str) -> str:
    """Without everything between `<name` and `</name`, found by searching forward, so that no text is read twice."""
    lower, parts, at = text.lower(), [], 0
    if len(lower) != len(text):
        return text
    while (begins := lower.find(f"<{name}", at)) >= 0:
        ends = lower.find(f"</{name}", begins)
        parts.append(text[at:begins])
        at = ends if ends >= 0 else len(text)
        if ends < 0:
            break
        at = ends + len(name) + 2
    return " ".join([*parts, text[at:]])


def _without_blobs(text: str) -> str:
    """Without long runs of base64, hex and bits; a few words beside one make it a fact about it."""
    blobs = [match for match in _BLOB.finditer(text) if _is_blob(match.group())]
    if not blobs or _URL.search(text):
        return text
    rest = "".join(
        text[a:b] for a, b in zip([0, *(m.end() for m in blobs)], [*(m.start() for m in blobs), len(text)], strict=True)
    )
    if len(_WORD.findall(rest)) >= 2 and len(rest) > len(text) * (1 - _BLOB_SHARE_MAX):
        return text
    return ""


def _is_blob(token: str) -> bool:
    """Hyphens and underscores also join words: a token that reads as words is a name, not a blob."""
    parts = [part for part in re.split(r"[-_/+]", token) if part]
    if len(parts) > 1 and sum(part.isalpha() and 2 <= len(part) <= 14 for part in parts) >= len(parts) * 0.6:
        return False
    return any(char.isdigit() for char in token) or token.lower() != token


def _only_fillers(words: list[str]) -> bool:
    """Only greetings, thanks, and words that people type to see whether something works."""
    plain = [word.lower() for word in words if not _is_filler(word)]
    if not plain:
        return True
    return len(plain) < len(words) and all(_SMALL_COUNT.fullmatch(word) for word in plain) and _is_test(words)


def _is_filler(word: str) -> bool:
    """A word that says nothing by itself. In capitals, a small word is a name: the US, the WHO, IT."""
    small = word.lower().replace("’", "'")
    acronym = word.isupper() and len(word) > 1
    return small in _FILLERS or (small in STOP_WORDS and not acronym) or _TEST_WORD.fullmatch(small) is not None


def _is_test(words: list[str]) -> bool:
    return words[0].lower() in {
        "test",
        "testing",
        "tests",
        "foo",
        "foobar",
        "abc",
        "asdf",
        "hello",
        "mic",
        "xyz",
        "qwerty",
        "dummy",
        "sample",
    }


def _repeats(words: list[str]) -> bool:
    """One word over and over. Figures may repeat in a list."""
    spoken = [word.lower() for word in words if not any(char.isdigit() for char in word)]
    if len(spoken) < len(words):
        return False
    distinct = len(set(spoken))
    return (distinct == 1 and len(spoken) >= 3) or (
        len(spoken) >= _REPEATED_WORDS_MIN and distinct / len(spoken) < _DISTINCT_SHARE_MIN
    )


def _is_opaque_link(text: str) -> bool:
    """A link alone whose path is a code: nobody can say what it was for."""
    match = _URL.fullmatch(text.strip())
    if match is None:
        return False
    path = re.sub(r"^(?:https?://)?[^/]*/?", "", match.group(), flags=re.IGNORECASE)
    return bool(path) and not re.search(r"(?<![^\W_])[^\W\d_]{3,}(?![^\W_])", path)


def _is_mashed(text: str) -> bool:
    """Keys hit at random: every word of it, and nothing said in figures."""
    words = [word for word in _WORD.findall(_RUN.sub(r"\1\1\1\1\1\1", text)) if len(word) > 1]
    lettered = [word for word in words if _LETTER.search(word)]
    if not lettered or _UNSPACED.search(text):
        return False
    return all(is_mash(word) or word.lower() in _FILLERS for word in lettered)
