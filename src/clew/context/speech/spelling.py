"""The plain spelling of a word: lower case, contractions written out, what is commonly mistyped put right."""

import re
from functools import lru_cache
from typing import Final

_DRAWN_OUT: Final = re.compile(r"([a-z])\1{2,}")
_SLIPS: Final = {
    "u": "you", "ur": "your", "r": "are", "ya": "you", "y'all": "you", "yall": "you", "pls": "please", "plz": "please",
    "plese": "please", "pleae": "please", "thx": "thanks", "thnx": "thanks", "thanx": "thanks", "tnx": "thanks",
    "thnaks": "thanks", "tahnks": "thanks", "thankyou": "thank you", "ty": "thank you", "tysm": "thank you so much",
    "wat": "what", "wht": "what", "waht": "what", "wut": "what", "whats": "what is", "wats": "what is",
    "hows": "how is", "whos": "who is", "wheres": "where is", "whens": "when is", "thats": "that is",
    "theres": "there is", "heres": "here is", "im": "i am", "ive": "i have", "dont": "do not", "doesnt": "does not",
    "didnt": "did not", "isnt": "is not", "wasnt": "was not", "arent": "are not", "werent": "were not",
    "cant": "can not", "cannot": "can not", "couldnt": "could not", "wont": "will not", "wouldnt": "would not",
    "shouldnt": "should not", "hasnt": "has not", "havent": "have not", "youre": "you are", "youve": "you have",
    "theyre": "they are", "weve": "we have", "lets": "let us", "gonna": "going to", "wanna": "want to",
    "gotta": "got to", "doin": "doing", "goin": "going", "doin'": "doing", "goin'": "going",
    "gtg": "got to go", "g2g": "got to go", "gimme": "give me", "lemme": "let me", "dunno": "do not know",
    "teh": "the", "adn": "and", "wich": "which", "whcih": "which", "hwo": "how", "wen": "when",
    "wher": "where", "shoud": "should", "coud": "could", "woud": "would", "yuo": "you", "taht": "that",
    "recieve": "receive", "recieved": "received", "helo": "hello", "hallo": "hello", "helllo": "hello", "hii": "hi",
    "nvm": "never mind", "nevermind": "never mind", "idk": "i do not know", "imo": "in my opinion",
    "imho": "in my opinion", "afaik": "as far as i know", "iirc": "if i remember correctly", "btw": "by the way",
    "fyi": "for your information", "ok": "okay", "k": "okay", "kk": "okay", "okey": "okay", "oke": "okay",
    "yea": "yeah", "yeh": "yeah", "yas": "yes", "yess": "yes", "ya'll": "you", "cuz": "because", "bc": "because",
    "coz": "because", "tho": "though", "rn": "right now", "tmrw": "tomorrow", "tomorow": "tomorrow",
    "tmr": "tomorrow", "acually": "actually", "actualy": "actually", "actally": "actually", "accually": "actually",
    "alot": "a lot", "abt": "about", "b4": "before", "ppl": "people", "msg": "message", "shud": "should",
    "alright": "all right", "goodbye": "bye", "y": "why", "aint": "is not", "ain't": "is not", "can't": "can not",
    "won't": "will not", "shan't": "shall not", "let's": "let us", "c'mon": "come on", "y'know": "you know",
}  # fmt: skip
_ENDINGS: Final = (("n't", "not"), ("'m", "am"), ("'re", "are"), ("'ve", "have"), ("'ll", "will"), ("'d", "would"))
# After these an 's is "is"; after any other word it says whose.
_IS_AFTER: Final = frozenset(
    "it that this there here he she what who where when why how everything something nothing everyone which".split()  # noqa: SIM905
)
_WORD_MAX_CHARS: Final = 40
# Words by which a sentence is told, often typed in haste: with two letters swapped, or with one of many left out.
_OFTEN_MISTYPED: Final = (
    "appreciate",
    "appreciated",
    "thanks",
    "thank",
    "grateful",
    "goodbye",
    "hello",
    "morning",
    "evening",
    "actually",
    "correction",
    "please",
    "helpful",
    "answer",
    "conversation",
    "nice",
    "talking",
    "great",
    "wonderful",
    "greetings",
    "farewell",
    "remember",
    "always",
    "never",
    "because",
)
_SWAPPED: Final = {
    word[:at] + word[at + 1] + word[at] + word[at + 2 :]: word
    for word in _OFTEN_MISTYPED
    for at in range(len(word) - 1)
}
_LEFT_OUT: Final = {
    word[:at] + word[at + 1 :]: word for word in _OFTEN_MISTYPED if len(word) > 5 for at in range(1, len(word) - 1)
}
_TYPED_WRONG: Final = {typed: word for typed, word in (_SWAPPED | _LEFT_OUT).items() if typed not in ("tanks", "pease")}


@lru_cache(maxsize=8192)
def spelled(word: str) -> tuple[str, ...]:
    """The plain words that one written word stands for."""
    low = word.lower().rstrip(".,:;-")
    if len(low) > _WORD_MAX_CHARS or not low:
        return (low or word,)
    if low in _SLIPS:
        return tuple(_SLIPS[low].split())
    if low in _TYPED_WRONG and _TYPED_WRONG[low] != low:
        return spelled(_TYPED_WRONG[low])
    drawn = _DRAWN_OUT.sub(r"\1", low)
    if drawn != low:
        return spelled(drawn)
    for ending, full in _ENDINGS:
        if low.endswith(ending) and len(low) > len(ending):
            return (low.removesuffix(ending), full)
    if low.endswith("'s") and low[:-2] in _IS_AFTER:
        return (low[:-2], "is")
    return (low,)
