"""Words that no one meant: keys beside each other, one key held down, letters no language puts together."""

import re
from typing import Final

_ROWS: Final = ("qwertyuiop", "asdfghjkl", "zxcvbnm", "poiuytrewq", "lkjhgfdsa", "mnbvcxz")
_STRETCHES: Final = re.compile(
    "|".join(sorted({row[at : at + 4] for row in _ROWS for at in range(len(row) - 3)}))
    + "|"
    + "|".join(rf"(?:{row[at : at + 3]}){{2}}" for row in _ROWS for at in range(len(row) - 2))
)
_PLAIN_WORD: Final = re.compile(r"[a-z]+")
_VOWELS: Final = frozenset("aeiouy")
# Pairs that European languages don't write within a word.
_UNWRITTEN_LIST: Final = """
bq bx cj cv cx dx fq fv fx fz gq gx hx jb jc jd jf jg jh jk jl jm jn jp jq jr js jt jv jw jx jz kq kx kz lx mx pq px
qb qc qd qe qf qg qh qj qk ql qm qn qo qp qr qs qt qv qw qx qy qz sx vb vf vh vj vk vm vp vq vt vw vx wq wv wx xd xj
xk xr xz zf zj zq zx zr hj hk kj kf fk fj fg gf df fd dj dk dg gk gj kd kg sd bv vc xv zc
"""
_UNWRITTEN: Final = frozenset(_UNWRITTEN_LIST.split())
_ROW_WORDS: Final = frozenset({"ads", "poi", "rew", "wer", "oiu", "tre", "sad", "fds", "gfd"})
_LENGTH_MIN: Final = 3
_RUN_SHARE_MIN: Final = 0.5
_UNWRITTEN_SHARE_MIN: Final = 0.22


def is_mash(word: str) -> bool:
    """Whether a word is keys hit at random. Capitals alone (`HTTPS`), other alphabets and words with figures aren't."""
    small = word.lower()
    if len(small) < _LENGTH_MIN or not _PLAIN_WORD.fullmatch(small):
        return False
    if len(small) == _LENGTH_MIN:
        return any(small in row for row in _ROWS) and small not in _ROW_WORDS
    kinds = len(set(small))
    if kinds == 1 or (kinds == 2 and len(small) >= 5):
        return True
    pairs = [small[at : at + 2] for at in range(len(small) - 1)]
    if sum(len(stretch) for stretch in _STRETCHES.findall(small)) / len(small) >= _RUN_SHARE_MIN:
        return True
    if word.isupper() and len(word) <= 6:
        return False
    if len(small) >= 6 and _VOWELS.isdisjoint(small):
        return True
    unwritten = sum(pair in _UNWRITTEN for pair in pairs)
    return len(small) >= 6 and unwritten >= 2 and unwritten / len(pairs) >= _UNWRITTEN_SHARE_MIN
