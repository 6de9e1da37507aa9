"""Talk about the talk: who the assistant is, what it can do, what it just said, and how the conversation goes on."""

import re
from typing import Final

from clew.context.intent.assistant_words import PERSONAL, TOPICS
from clew.context.intent.between_us import is_between_us
from clew.context.intent.manner import is_of_manner
from clew.context.speech.sentence import Sentence

META_MAX_WORDS: Final = 24


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


_YOU: Final = frozenset(("you", "your", "yours", "yourself", "ai"))
# "What do you call me" asks for something that was said once, and that is looked up.
_OF_ME: Final = re.compile(
    r"\b(?:my|mine)\b|\b(?:call|name|address|know|refer to|have|use)(?: \w+){0,3} (?:me|for me)\b"
)
_ABOUT_ASSISTANT: Final = _any_of(
    r"\b(?:who|what|which (?:ai|model|bot|assistant|version))(?: exactly| kind of \w+| type of \w+)? are"
    r" you(?: exactly| really| anyway| again)?$"
    r"|^(?:what|which) (?:model|ai|bot|llm|assistant) is this$",
    r"\b(?:are|were) you(?: \w+){0,4} (?:bot|robot|chatbot|human|person|ai|machine|computer|alive|sentient"
    r"|conscious|llm)\b",
    r"\bam i (?:really |actually |now )?(?:talking|speaking|chatting|writing) (?:to|with)\b",
    r"\b(?:introduce|tell (?:me|us) (?:more |something |a bit |a little )?about) yourself\b",
    r"\byour (?:system prompt|knowledge cutoff|training data|context window|capabilities|limitations|source code"
    r"|memory)\b",
    r"\bdo you (?:store|save|keep|record|log|remember|retain|share)(?: \w+){0,2} (?:what i|our|everything i"
    r"|things i|data)\b",
    r"\bremember (?:things|anything|me|us)? ?(?:between|across) (?:chats|sessions|conversations)\b",
    r"\bwhat are you (?:able to|capable of|good at)\b|^can you (?:be wrong|make mistakes|lie|think|feel)$",
    r"\bhow do you (?:know|come up with) (?:all )?(?:that|this|it)$",
)
_THINGS: Final = (
    r"(?:questions?|things?|topics?|subjects?|tasks?|requests?|queries|services|commands|languages|problems)"
)
_ABILITIES: Final = _any_of(
    rf"\b(?:what|which)(?: \w+)?(?: of)? {_THINGS} (?:can|could|do|are|should|may|would) (?:you|i ask|we talk)\b",
    r"\bwhat (?:can|may|should|could) i (?:ask|say to)\b|\bhow (?:can|do|should) i (?:use|talk to|work with) you\b",
    r"\bthings (?:that )?you can (?:do|help)\b(?: \w+){0,3}$|\bwhat else can you\b(?: \w+){1,4}$|\bwhat(?:"
    r" exactly| all)? (?:can|do)(?: not)? you (?:do|know|offer)(?: for (?:me|us))?$",
    r"^(?:can|could|will|would) you (?:please )?(?:help|assist)(?: me| us)?(?: out| please| with (?:something"
    r"|anything))*$",
    r"^(?:i )?need(?: some| your)? help$|\b(?:can you|are you able to|do you) (?:see|hear|read|understand"
    r"|open|process|handle)"
    r" (?:me|us|my messages|(?:any )?(?:images?|pictures?|photos?|files?|pdfs?|documents?|attachments?|links?"
    r"|audio|voice))$",
    r"\b(?:can|do|could) you (?:speak|understand)(?: in| any)? (?:\w+|other languages)$",
    r"\b(?:can|may|could) i ask(?: you)? (?:a|something|some|another|one more|anything)\b(?: \w+){0,2}$",
    r"^(?:i )?(?:have|got)(?: an?| another| one more| some| few| quick| one)* (?:questions?|request|favor"
    r"|favour)(?: for you)?$",
)
_SAID: Final = (
    r"(?:answer|response|reply|replie|explanation|message|wording|tone|output|point|suggestion|reasoning|logic"
    r"|assumption)s?"
)
_THE_TALK: Final = _any_of(
    r"\b(?:repeat|rephrase|reword|restate)(?: (?:that|it|this|yourself|what you(?: just| have)? said|the last \w+"
    r"|again|please|for me|once|one|more|time))*$",
    r"\bsay (?:that|it|this|what)(?: \w+){0,4} (?:again|once more|one more time|slower|differently|another way)\b",
    r"\bcome again\b|\brun that by me\b|^(?:i beg your )?pardon(?: me)?$|^what was that(?: again)?$"
    r"|^(?:sorry )?what$|^again(?: please)?$|^huh$",
    r"\bwhat (?:did|were|was|have|do) you (?:just |last |even )?(?:say|said|saying|mean|tell me|ask"
    r"|asking)\b(?: by that| before| again| earlier| just now)?$",
    r"\bwhat (?:do|did) you mean\b|\bwhat you (?:just )?(?:said|told|meant|wrote)\b(?!.*\d|.* (?:right|correct|true"
    r"|wrong)$)",
    r"\bwhat (?:did|have|was|were) (?:i|we) (?:just |last |even |first )?(?:say|said|saying|ask|asked|asking|tell"
    r" you|told you"
    r"|talk about|discuss|talking about|discussing|doing|on about)(?: you)?(?: so far| until now| up to now| in this"
    r" chat| before|"
    r" earlier| again| first| just now| a moment ago)?$",
    r"\b(?:first|last|second|previous|next) (?:thing|question|message|sentence|request) (?:that )?(?:i|you) (?:\w+"
    r" )?(?:said|asked"
    r"|wrote|told|sent)\b",
    r"\bmy (?:data|information|messages|chats?|conversations?) (?:safe|private|secure|stored|saved|kept|shared|used)\b",
    r"\bhow (?:sure|confident|certain) are you\b|^(?:that|this) (?:is|was) (?:just |only )?a test(?: message)?$",
    r"^you (?:just )?keep \w+ing\b|^(?:that|this|it) (?:is|was) not (?:really )?(?:my|the) question\b",
    r"\banswered (?:a|the) (?:different|wrong|other) question\b|^(?:please )?(?:let us go |go )?back to (?:my|the"
    r"|our) (?:question"
    r"|point|topic|original|subject)\b|\bfinish (?:your|the) (?:sentence|answer|thought|message|reply)\b",
    r"\b(?:see|read|access) (?:what i (?:write|type|say|wrote)|my (?:messages|chats)|this (?:chat|conversation))\b",
    r"\bwhat happens (?:to|with) (?:the |my |our )*(?:things|data|messages|information|chats?|what)(?: (?:that )?i"
    r" (?:tell|write|share|give|say|type))?(?: you| here)?$",
    r"^i (?:am|was) (?:just |only )?(?:testing|kidding|joking|teasing)(?: you| this| it)?$|\b(?:pressed|hit)"
    r" (?:enter|send|return)\b",
    r"\blet us (?:stop|leave it|end it|pause) (?:here|there|at that)\b|^how many (?:questions|messages) (?:can|may"
    r"|do) i\b",
    r"^(?:is|are) there (?:anything|something|things) (?:that )?you (?:can not|can|do not|will not)\b(?: \w+){0,2}$",
    r"^you (?:sound|seem|act|behave) (?:like|as if)\b|^do you have access to\b|^you answered\b",
    r"^you (?:have |just )*(?:forgot|forgotten|missed|overlooked|skipped|ignored|lost track of)\b.*\b(?:i|my"
    r"|question)\b",
    r"^(?:scroll up|(?:but )?as i said)\b|^(?:but )?i (?:have )?(?:already|just) (?:answered|told you|said|asked"
    r"|explained)(?: that| this| it| you| so)*$",
    r"^(?:(?:sorry|oops|ignore that) )*wrong (?:window|chat|person|thread|tab|channel|conversation)(?: sorry)?$"
    r"|^(?:sorry )?i missed (?:that|what you said)$",
    r"\bi (?:did not|do not|can not|could not|am not|missed)(?: really| quite| fully)? ?(?:understand"
    r"|understanding|follow|following|get|catch|hear|what)"
    r" (?:you|that|it|what you|your|this|the last|any of that)\b",
    r"^i (?:do not|did not) (?:understand|follow|get it)(?: you| at all)?$",
    r"\b(?:our|this) (?:conversation|chat)\b|\b(?:that|this|my)(?: last)? message\b|^(?:wait )?go back$"
    r"|\b(?:shorter|longer|simpler) version$",
    r"\bcan you (?:see|access|read) my (?:files|screen|messages|emails|calendar|camera|data)$",
    r"^(?:can|could|did|do|have) you (?:see|read|get|got|receive|received)(?: \w+){1,4} i (?:just |have"
    r" )*(?:sent|uploaded"
    r"|attached|shared|pasted|posted)(?: you| above| earlier| here)*$",
    r"\b(?:our|this|the) (?:conversation|chat|discussion|thread|dialogue|session)\b(?: so far| until now| together"
    r"| please| up to now| above| history)*$",
    r"\b(?:we|i) (?:have |just )*(?:talked|discussed|covered|exchanged|said|established|been (?:talking"
    r"|discussing))(?: about)?(?: so far| until now| here| up to now)*$",
    rf"\byour (?:last |previous |first |earlier )*{_SAID}\b|\b(?:my|the) (?:first|last|previous|earlier"
    rf"|original) (?:question|message|prompt|{_SAID})\b",
    r"\byou(?: have)? (?:just |already |again |completely |totally |keep )*(?:misunderstood|misread|misunderstand"
    r"|contradicted|ignored|did not answer"
    r"|are not (?:answering|listening|helping|making)|told me (?:(?:that|this)(?: already| before)?$|already)"
    r"|said (?:that|this|so|it)(?: already| before)?$"
    r"|are repeating|keep repeating)\b",
    r"\bnot what i (?:asked|meant|said|was asking|wanted|am asking)\b|\bdid not answer my question\b"
    r"|\banswer my question$",
    r"\bwhy (?:did|do|are|would) you (?:keep )?(?:say|saying|ask|asking|think|apologi[sz]e|apologi[sz]ing|repeat"
    r"|repeating|answer|answering|reply|respond|responding|use|using|switch|call me|calling me)(?: \w+){0,4}$",
    r"\b(?:that|this|your|these|those) (?:answer|response|reply|explanation)s? (?:makes? no|does not|do not|did not"
    r"|(?:is|are|was)"
    r" (?:\w+ )?(?:wrong|unclear|vague|nonsense|unhelpful|confusing|incomplete|too \w+))\b",
    r"^(?:can|could|will|do) you (?:remember|recall|learn|forget) (?:things|anything|everything|stuff|what i (?:say"
    r"|tell|write))\b",
    r"^(?:please )?(?:give me a|just a|one|hang on a|wait a) (?:second|minute|moment|sec|min)\b(?!.*\b(?:to|and"
    r" then)\b)",
    r"\bare you (?:really |quite |absolutely |very |100% |completely )?(?:sure|certain|positive|joking|kidding"
    r"|serious|lying)(?: about (?:that|this|it)| of that)?$",
    r"\bare you (?:still )?(?:there|here|listening|with me|awake|working|online|ready|around)$",
    r"^(?:(?:oh|okay|no|please|just|sorry|actually|well|ai) )*(?:never mind|(?:forget|ignore|disregard|cancel|stop"
    r"|drop|skip)(?: about)?(?: it| that| this| talking)?"
    r"|abort|scratch that)(?: please| then| for now| now| never mind)*$",
    r"\b(?:start|begin|try)(?: all)?(?: over| again| anew| afresh| from (?:scratch|the (?:start|beginning"
    r"|top)))+(?: please)?$|\b(?:change|switch"
    r"|drop) the (?:subject|topic)$",
    r"\btalk about something else\b|\b(?:let us|can we|shall we) move on\b|\b(?:was|am"
    r"|were) talking about something else\b|\bwas not a question\b|\bgo back to (?:your|the|my|what) (?:previous"
    r"|last|first|earlier|you|we|original)\b",
    r"^(?:(?:please|okay|and|so|yes|can you|could you) )*(?:continue|go on|carry on|proceed|keep going|go ahead"
    r"|more|tell me more|say more|elaborate)(?: please| with that| on that| from there)*$",
    r"\b(?:hold on|hang on|wait|pause|one moment|one second|one sec|just a (?:second|moment|minute|sec)|bear with me"
    r"|give me a (?:second|minute|moment|sec|min))"
    r"(?: please| a (?:second|minute|moment|sec)| let me(?: \w+){1,4})*$",
    r"^let me (?:think|read|rephrase|clarify|explain|try again|start over|ask (?:you )?(?:something|differently"
    r"|again)|put it (?:differently|another way))"
    r"(?: about (?:it|that)| that| it| this| again| myself| first| over| for a (?:second|moment))*$",
    r"^(?:just )?(?:a )?(?:test|testing)(?: testing| 123| 1 2 3| this| test)*$|^is this (?:thing )?(?:on|working)$",
    r"\b(?:explain|say|put|phrase) (?:that|it|this)(?: to me)? (?:again|differently|simply|simpler|another way"
    r"|(?:like|as if) i (?:am|was|were)|more \w+|in \w+ (?:terms|words|english))\b",
    r"\bstop (?:repeating yourself|lying|rambling)\b|\b(?:do|did) you (?:understand|follow|get)(?: me| it"
    r"| what i mean| my question)?$",
    r"^(?:that|this|it) (?:is|was|did|does) not (?:really |very |even )?(?:help|helpful|useful|an answer)(?: me|"
    r" much| at all)?$|\byou are (?:wrong|mistaken|confused|not (?:helping"
    r"|listening|helpful|making (?:any )?sense))$|^you(?: have)? (?:got|get|had) (?:it|that|this|me"
    r"|everything|all) (?:all )?wrong$",
    r"\byou(?: have)? (?:completely |totally )?lost me\b|\bover my head\b|\bma(?:ke|king|de) (?:that|this|it"
    r"|all that) up$"
    r"|\bbreak (?:that|this|it) down(?: for me| again| further)*$"
    r"|^i am (?:still |just )*(?:typing|thinking|writing|reading)(?: about it)?$"
    r"|\b(?:anything|everything|what|things) i (?:say|tell you|write|type|share)\b.*\b(?:stored|saved|kept"
    r"|recorded|logged"
    r"|shared|private|remembered|used)\b",
    r"^where (?:were we|did we (?:leave|stop|get|end))\b(?: \w+)?$|^(?:did|does) (?:that|this|it|what i said)"
    r" make (?:any )?sense\b"
    r"(?: to you)?$|^(?:new|next|different|another) (?:topic|question|subject|conversation|chat)$|\bsent"
    r" (?:it |that |this )?too"
    r" (?:early|soon)\b",
    r"^what makes you (?:think|say|believe)(?: so| that| this| it)?$"
    r"|^(?:wait )?i (?:am|was) not (?:finished|done)(?: yet| talking| typing| speaking)*$",
)
# What is said to an answer, and to the one who gave it.
_REACTIONS: Final = _any_of(
    r"^you (?:are|were)(?: being| so| too| very| just| really| not| completely| all)* (?!open|closed|located"
    r"|based|right)[a-z]+"
    r"(?: (?:about|with|on) (?:that|this|it|me|us))?$",
    r"^(?:that|this|it) (?:is|was|makes|made|makes absolutely)(?: \w+)? (?:sense|nonsense|rubbish"
    r"|gibberish)(?: to me| at all)*$",
    r"^i (?:take (?:that|it|this) back|(?:have )?changed my mind|do not believe (?:you|that|it))$|\bin circles$",
    r"^(?:(?:can|could) you )?(?:prove|justify|verify|back)(?: up)? (?:it|that|this)(?: up)?$|\byour sources?$",
    r"\b(?:base|basing|based) (?:that|this|it|your \w+) on$|^what .*\bcall you$|\bdo with my (?:data|messages"
    r"|information)$",
    r"^how did you (?:arrive at|come to|come up with|get to|get|reach|know|find|work out|decide) (?:that|this"
    r"|it)(?: \w+)?$",
    r"\bone (?:question|thing|step|topic) at a time$|^say (?:that )?again$|\b(?:word|express|phrase) (?:that|it|this)"
    r" (?:differently|better|another way)$",
    r"^(?:(?:let us|can we|could we) )?go back(?: a bit| a little| (?:one|a|two) steps?| to the (?:start"
    r"|beginning|top))?$",
    r"^(?:(?:you can|please) )?(?:skip|spare me|leave out|cut|drop) the (?:\w+ )?(?:intro|introduction"
    r"|details?|fluff|chatter"
    r"|pleasantries|small talk|apologies)$|^no need to (?:explain|apologi[sz]e|repeat)(?: \w+)?$",
)
# Asked of the memory, not of the window: what was said in another conversation has to be looked up.
_REMEMBERED: Final = _any_of(
    r"\b(?:i|we) (?:\w+ )?(?:told|mentioned|said|gave|decided|agreed|talked|discussed"
    r"|spoke)\b(?: \w+){0,3} (?:(?:about|on|in|regarding) (?!so far|until|here|this)\w|last|yesterday|my|our)",
    r"^(?:(?:a|one|small|quick|minor) )*correction\b",
    r"\b(?:last|previous) (?:week|month|year|time|session|meeting)\b",
)


# "Draft a reply to this message": somebody else's, and something is to be made of it.
_TO_BE_MADE: Final = re.compile(
    r"^(?:(?:please|can you|could you|would you|i need you to) )*(?:draft|write|compose|translate|forward|send|answer"
    r"|reply|respond|proofread|edit|polish|post|email|prepare|rewrite|improve|shorten|sign|save"
    r"|copy)\b.*\b(?:message|thread)\b"
)


def is_about_the_talk(sentence: Sentence) -> bool:
    """Whether the sentence is about the assistant or the conversation itself, so that nothing known can help."""
    plain = sentence.plain
    if not 0 < len(sentence.words) <= META_MAX_WORDS or _REMEMBERED.search(plain) or _TO_BE_MADE.match(plain):
        return False
    if any(pattern.search(plain) for pattern in (_ABOUT_ASSISTANT, _ABILITIES, _THE_TALK, _REACTIONS)):
        return True
    if is_between_us(sentence) or is_of_manner(sentence) or _is_personal(sentence):
        return True
    first, rest = sentence.at_comma()
    return bool(first.words and rest.words) and is_about_the_talk(first) and is_about_the_talk(rest)


def _is_personal(sentence: Sentence) -> bool:
    """Whether every word asks after a person, and the person is the assistant: its name, its age, its maker."""
    words = sentence.plain_words
    if not any(word in _YOU for word in words) or _OF_ME.search(sentence.plain):
        return False
    return all(word in PERSONAL for word in words) and any(word in TOPICS for word in words)
