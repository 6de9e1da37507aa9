"""Short sentences around a courtesy that have words of their own in them: "it was kind of you to explain that"."""

import re
from typing import Final

from clew.context.speech.mood import mood_of
from clew.context.speech.sentence import Sentence
from clew.context.speech.verbs import verb_at

COURTEOUS_MAX_WORDS: Final = 12

# After a word of thanks these go on to something else.
TURNS_TO_SOMETHING: Final = re.compile(
    r"\b(?:but|however|though|although|actually|because|now|next|instead|still|could you|can you|please)\b|[?]|\d"
)
_SET_PHRASES: Final = re.compile(
    r"(?:(?:so|hey|hi|hello|okay|well|and|oh|great|yes|yo|perfect|awesome|cool) )*(?:what is (?:the word|cooking"
    r"|shaking|cracking)"
    r"|how do you (?:fare|do)|what are you (?:doing|up to|feeling)(?: like)?(?: today| now| right now| tonight)?"
    r"|everything (?:good"
    r"|okay|all right)(?: with you)?"
    r"|toodle\W?oo|peace out(?: \w+)?|see you when i see you|i will be back|i am (?:back|here)(?: again|"
    r" now)?|(?:how|what) about (?:you|yourself)|(?:my )?(?:old|dear|good) friend|get well soon|oh no|wish me"
    r" luck|ready when you are"
    r"|i will (?:try (?:that|it|this)(?: out| now| later)?|take it from here|get back to you(?: later| soon)?"
    r"|let you know|think about it|be right back|have a look|do (?:that|so))"
    r"|i am (?:so |very |really |quite )*(?:impressed|delighted|thrilled)|it (?:was|is|has been) (?:a |my "
    r"|such a )*(?:pleasure|blast|real)"
    r"|(?:it is )?time (?:for me )?to (?:go|leave|say bye)|i am (?:going to|off to) (?:sleep|bed)(?: now)?"
    r"|good going|way to go"
    r"|(?:you|they) (?:did|have done) (?:so |very |really )?(?:well|good|great)|how (?:thoughtful|kind|nice|sweet"
    r"|lovely)(?: of you)?"
    r"|(?:that is |this is |it is |that was )?(?:exactly |just |all |precisely )*what i (?:needed|wanted"
    r"|was looking for|was after|need)"
    r"|(?:you|that|this)(?: have| has| really)? answer(?:ed|s) my questions?|what a (?:great |big "
    r"|huge )?help(?: you are)?|so \w+ of you"
    r"|i (?:really )?(?:like|liked|love|loved) (?:that|your|the) (?:answer|response|reply)|you are a life ?saver"
    r"|please accept my thanks|i (?:would like|want) to express my \w+|let me (?:express|say) my \w+)$"
)
_WANTS: Final = re.compile(
    r"\bthanks to (?!you|your|all)|\bthank you (?:note|card|letter|e?mail|gift|speech)|\b(?:what|which|when|where"
    r"|who|why|how|tell|show|find|need|want|order|book|send|if|whether|not|my|problem|issue)\b"
)
_GLAD: Final = (
    r"(?:good|great|nice|awesome|amazing|wonderful|excellent|fantastic|brilliant|perfect|lovely|helpful|useful"
    r"|kind|sweet"
    r"|thoughtful|generous|best|superb|outstanding|invaluable|terrific|incredible|impressive|fabulous|marvelous"
    r"|splendid)"
)
_THANKING: Final = re.compile(
    r"\b(?:thanks|thank|thankful|appreciate|appreciated|appreciative|appreciation|grateful|gratitude|obliged"
    r"|indebted)\b"
    r"|\b(?:value|treasure|cherish) (?:your|all)\b|\bmeans (?:a lot|so much|the world)\b|\bowe you\b|\bbless you\b"
    r"|\bglad (?:you|for|to have)\b|\bhappy (?:you|with your|with the (?:help|answer))\b"
    r"|\byou (?:have |really |truly |just |totally |so )*(?:helped|saved|rock|rule|made my day|nailed it"
    r"|came through)\b"
)
_PRAISING: Final = re.compile(
    r"^(?:\w+ ){0,2}(?:you(?= (?:are|were|have|did|do|made|really|truly|always|gave|sound|seem|look|so|guys)\b)|your"
    r" (?:help|answer|assistance|response|advice|work|effort|support|info|information"
    r"|reply)s?)\b"
    rf"(?: \w+){{0,5}} {_GLAD}\b(?: \w+){{0,3}}$|^(?:\w+ )?(?:that|this) (?:is|was|has been) (?:\w+ )?(?:of )?{_GLAD}$"
    rf"|^(?:\w+ )?{_GLAD} (?:job|work|answer|response|help|advice|info|suggestion|stuff|explanation|effort)\b"
)
_PARTING: Final = re.compile(
    r"\b(?:bye|farewell|adios|ciao|so long|cheerio|sayonara|peace)$|^(?:\w+ ){0,2}(?:bye|farewell|adios"
    r"|later)(?: for now| to you| my friend| \w+)?$"
    r"|\b(?:see|catch|talk to|talk with|speak to|speak with|chat with|hear from|be seeing) you\b"
    r"|\b(?:talk|chat|speak) (?:soon|later|again)\b|\btake care\b|\buntil (?:next|we|then|later|tomorrow)\b"
    r"|^(?:\w+ ){0,3}(?:have|enjoy) (?:an?|your|the) (?:\w+ )?(?:good|great|nice|lovely|safe|pleasant|fun"
    r"|relaxing|day|one|night"
    r"|evening|weekend|rest|time|trip|flight|holiday|vacation)\b"
    r"|^(?:(?:signing|logging|heading|checking) (?:off|out)|off to \w+)(?: now| for (?:the|to)(?:day| day| night)?)*$"
    r"|^(?:i|we) (?:am |are |will |have |must |should |had |better |really |got |to |be |just )*"
    r"(?:go|going|leave|leaving|run|head out|heading out|get going|take off|be off|log off|sign off|signing off"
    r"|part ways)"
    r"(?: out| off| now| soon| home| for now| for today| then)*$"
)
_MEETING: Final = re.compile(
    r"\b(?:nice|good|great|lovely|glad|pleased|happy|pleasure|enjoyed|enjoyable|pleasant|fun|cool|wonderful"
    r"|delightful|delighted"
    r"|loved|joy|blast)\b(?: \w+){0,6} (?:meet|meeting|see|seeing|talk|talking|chat|chatting|speak|speaking"
    r"|conversation"
    r"|conversing|converse|met|talked|chatted|connect|connecting|discussion|company)\b"
)


# "Sorry to bother you"; what follows a comma is said on top of it.
_SOCIABLE: Final = re.compile(
    r"^(?:(?:oh|so|very|really|i am|we are|my) )*(?:sorry|apologies) (?:for|to|about|that i)(?: \w+){1,5}$"
)
# "What a lovely day", but not "what a widget is".
_EXCLAIMS: Final = re.compile(r"^(?:(?:oh|well|wow) )?(?:what|such) an? \w+(?: \w+)?$")


def is_courteous(sentence: Sentence) -> bool:
    """Whether a sentence thanks, praises, greets or takes leave, and neither asks nor turns to something else."""
    plain = sentence.plain
    if _SET_PHRASES.match(plain) or (_EXCLAIMS.match(plain) and not sentence.asks and verb_at(sentence) is None):
        return True
    if (
        len(sentence.words) > COURTEOUS_MAX_WORDS
        or sentence.asks
        or TURNS_TO_SOMETHING.search(plain)
        or _WANTS.search(plain)
    ):
        return False
    if mood_of(sentence) in ("question", "request", "telling"):
        return False
    if "," not in sentence.said and _SOCIABLE.match(plain):
        return True
    return any(pattern.search(plain) for pattern in (_THANKING, _PRAISING, _PARTING, _MEETING))
