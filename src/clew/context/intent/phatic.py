"""Words that keep company rather than say or ask something: hello, thanks, bye, "how are you", "got it"."""

import re
from typing import Final

from clew.context.intent.courtesies import TURNS_TO_SOMETHING, is_courteous
from clew.context.speech.lexicon import ACTIONS, AUXILIARIES, DETERMINERS, EVALUATIVE, WH
from clew.context.speech.sentence import Sentence

PHATIC_MAX_WORDS: Final = 40
THANKS_MAX_WORDS: Final = 14
GREETED_MAX_WORDS: Final = 5


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_HELLO: Final = _set(
    "hello hi hey heya hiya howdy yo greetings salutations aloha hola bonjour ciao namaste hej salut ahoy sup morning"
    " afternoon evening konnichiwa olá ola oi hei guten servus moin merhaba salaam salam shalom hullo heller welcome"
    " こんにちは 你好 您好 안녕하세요 привет здравствуйте"
    " buenas buenos gday g'day tag morgen abend dia dias tardes noches jour soir"
    " gm giorno sera bom boa wassup whassup whatsup hoy heyo hya oy wazzup top"
)
_BYE: Final = _set(
    "bye byebye bye-bye buhbye farewell fairwell adios sayonara syonara cya ttyl toodles tootles tata ta-ta cheerio"
    " peace later laters gator gater alligator goodnight night gn nighty ciao adieu hasta tschüss tschuss arrivederci"
    " brb au revoir luego ta gn8 goodnite nite dreams さようなら 再见 пока"
)
_THANK: Final = _set(
    "thanks thank thankful gracias merci danke grazie obrigado obrigada arigato arigatou cheers appreciate"
    " appreciated grateful gratitude obliged kudos tack takk dank bedankt spasibo спасибо 谢谢 ありがとう dziękuję"
    " teşekkürler props indebted gratefully"
)
_ACK: Final = _set(
    "okay cool great nice awesome perfect excellent wonderful fantastic amazing brilliant lovely sweet super fab neat"
    " gotcha understood noted lol haha hahaha hehe lmao rofl wow whoa yay hooray congrats congratulations welcome fine"
    " good alright roger ack word bravo ditto agreed oh ah aha hm hmm mhm right sorry apologies oops yikes phew whoops"
    " okie dokie okey-dokey stuff well interesting superb splendid wicked dope lit indeed please sure regards"
    " sincerely"
)
_ACK_PHRASES: Final = re.compile(
    r"^(?:(?:oh|ah|okay|well|yes|yeah|yep|yup|nope|cool|lovely|great|and|so|all|that|it|this|is|was|sounds"
    r"|seems|looks|very|really|so"
    r"|pretty|just"
    r"|absolutely|quite|all|too|then|right|to me|with me|by me|to know|to hear|for me|now|i am|i|have|a|one|of|you"
    r"|are) )*"
    r"(?:got it|got that|got you|i see|just right|spot on|funny|hilarious|true that|okay then|makes sense"
    r"|make sense|made sense|good|great|nice|perfect|awesome|cool"
    r"|lovely|wonderful"
    r"|fine|all right|no worries|no problem|not a problem|no prob|no biggie|no need|all good|all set|my pleasure"
    r"|you too|same here|same to you"
    r"|likewise|fair enough|fair|good one|well done|good job|nice work|great job|nice one|good work|great work"
    r"|nice job|of course"
    r"|(?:happy|merry) (?:new year|christmas|birthday|anniversary|holidays?|\w+day|easter|thanksgiving|diwali|eid"
    r"|weekend)(?: to(?: \w+){1,5}| everyone| everybody| team)?"
    r"|bless you|good luck|best wishes|interesting|excellent"
    r"|(?:that|it|this) (?:did it|did the trick|fixed it|solved it|does it|does the trick)|that worked|that works|it"
    r" worked|it works|works|worked|that helps|that helped|helpful|i understand"
    r"|understood|you are welcome|my bad|sorry about that|sorry for that|sorry for the confusion"
    r"|my apologies|i am sorry|i know|good to know|great to know|nice to know|good to hear|love it|i love it"
    r"|happy to hear that|glad to hear(?: that| it)?"
    r"|will do|not much(?: you)?|and you|nothing much|same old|sounds like a plan|excuse me|good looking out"
    r"|i owe you(?: one)?)"
    r"(?: (?:then|now|thanks|to know|to me|for me|for now|with me|man|dude|buddy|mate|everyone|all|so much|a lot"
    r"|at all|here|there|to hear|to hear that|too|again|it|that|to you|and all|and family|and your family))*$"
)
# What makes a sentence of social words a greeting, and not just short.
_NUCLEUS: Final = re.compile(
    r"\bhow (?:are|is|have|do|goes|was|has|been)\b(?: \w+){0,2} (?:you|it|things|everything|life|day|ai|feel"
    r"|feeling|going|doing|been|all|weekend|morning|evening|week|hanging|treating|family)\b"
    r"|\bhow (?:are|is|have) (?:you|things|everything|life|it)\b|\bhow goes it\b|\bhow (?:you|things|the ai|my ai"
    r"|life|everything|your day|it) (?:are|have|is|was|has|going|goes)\b"
    r"|\bwhat is (?:up|new|good|happening|going on|cooking|poppin|popping|crackin|cracking|shaking|the word"
    r"|the haps|the latest|going down)\b|\bwhat (?:up|do you feel like doing)\b"
    r"|\b(?:are|is|have|hope|hoping|trust) (?:you|everything|things|all|life"
    r"|this finds you)\b(?: \w+){0,6} (?:okay|well|good|fine|great|alright|right|ok|day|one|week|weekend|morning"
    r"|evening|afternoon|night|busy)\b"
    r"|\b(?:nice|good|great|lovely|glad|pleased|happy|pleasure|enjoyed|enjoyable|pleasant|fun|cool|wonderful"
    r"|delight|delighted|enjoy)\b(?: \w+){0,5}"
    r" (?:meet|meeting|see|seeing|talk|talking|chat|chatting|speak|speaking|conversation|conversing|converse|touch"
    r"|catch|hear|hearing|having|connect|connecting|working|met|talked|chatted|helped)\b"
    r"|\b(?:great|nice|good|lovely) (?:talk|chat|conversation|catching|seeing|talking|to see|to meet|to chat)\b"
    r"|\b(?:see|talk|speak|catch|chat|write)(?: to| with)? you\b|\bsee you\b|\b(?:talk|chat|speak) (?:later|soon"
    r"|again|tomorrow)\b|\buntil (?:next|tomorrow|then|we)\b"
    r"|\bhave (?:a|an|yourself a|yourself an)(?: \w+)? (?:good|nice|great|lovely|wonderful|fantastic|safe|pleasant"
    r"|blessed|awesome|amazing|relaxing|fun|happy|restful)\b|\bhave fun\b|\benjoy (?:your|the) (?:day|weekend"
    r"|evening|rest)\b"
    r"|\btake (?:care|it easy)\b|\bpeace out\b|\bgood (?:day|morning|evening|afternoon|night|bye)\b|\bgood to see\b"
    r"|\b(?:i am|i have|i|got|we|must|need|have)(?: \w+){0,2} (?:go|run|leave|leaving|leave now|get going|head out"
    r"|heading out|outta here|out of here|off|jet|bounce|signing off)(?: now| ai| then| too| soon)?$"
    r"|\bthat is (?:all|it|everything)(?: i need| i needed| for now| for today| from me| i wanted)*$"
    r"|\bis (?:anyone|anybody|someone|somebody) (?:there|here|around|home)\b|\b(?:anyone|anybody) (?:there|here"
    r"|home)\b"
    r"|\bwake up\b|\blong time no see\b|\byour (?:answer|help|efforts?|response|assistance|support|time|kindness"
    r"|reply)\b(?: \w+){0,3} (?:appreciated|good|great|enjoyable|pleased|helpful|unnoticed|perfect|excellent"
    r"|welcome|me|amazing|awesome)\b"
    r"|\byou (?:are|have been|were|did)(?: such| so| really| very| truly| the| a| an| quite| too| super| most"
    r"| extremely| incredibly| all| big| huge| great| real| tremendous| of)* (?:best|help|helpful|great|good|nice"
    r"|kind|awesome|amazing|thoughtful|doll|star|legend|lifesaver|life saver|rock|gem|wonderful|fantastic|sweet"
    r"|brilliant|hero|sweetheart|genius|angel|champ|lovely|generous|excellent|perfect|smart)\b|\byou rock\b"
    r"|\b(?:good|great|nice|excellent|amazing|awesome|fantastic|wonderful|well) (?:job|work|answer|done|one)\b"
    r"|\bi (?:am|was) (?:\w+ )?(?:happy|pleased|satisfied|impressed) with your\b|\bowe you\b"
    r"|\b(?:i am|we are|am|so|very|really)(?: \w+)? (?:glad|happy|pleased|thankful|grateful|lucky"
    r"|thrilled)(?: that)? (?:you|we|i|to have)\b|\byou have (?:my|our)\b|\bwithout you\b"
    r"|\byou (?:have |really |just )*(?:rule|rock|saved|made my|nailed|deserve|helped|solved)\b|\b(?:that|this"
    r"|it) (?:was|is|has been|did)(?! not)(?: \w+){0,2} (?:help|helpful|helped|useful|kind|sweet|thoughtful|nice|lovely"
    r"|generous)\b"
    r"|\b(?:kind|nice|sweet|thoughtful|good|lovely|generous) of you\b|\bin your debt\b|\bhow do you do\b"
    r"|\byou (?:good|okay|doing|all right)\b|\blong time no\b|\bup to\b"
    r"|\b(?:hope|trust) (?:all|everything|things|you)\b|\bhope your\b|\bso long\b|\bover and out\b|\b(?:sleep"
    r"|stay) (?:well|safe"
    r"|tight|tuned)\b|\bsweet dreams\b|\b(?:i am|we are|that will be|that is) (?:all )?(?:done|all|it"
    r"|everything)\b|\bnothing else\b|\benough for\b"
    r"|\beasier with you around\b|\bwish you were here\b|\bglad (?:you|we|i)\b|\bsay (?:hi|hello|hey|bye|thanks)\b"
    r"|\btime to say\b|\bi enjoyed\b"
    r"|\bsounds good\b|\b(?:i|we)(?: am| will| are)? (?:be )?(?:leaving|off)\b"
)
_SOCIAL: Final = (
    _HELLO
    | _BYE
    | _THANK
    | _ACK
    | EVALUATIVE
    | DETERMINERS
    | AUXILIARIES
    | _set(
        "i you me we us it he they nope nah finally from am to with for and but so very much really just again"
        " today now"
        " right there here"
        " day week weekend one life things everything anyone anybody friend friends buddy pal mate man dude bro ai bot"
        " siri alexa google assistant device team folks guys all everybody sir madam ma'am doctor doc partner fellow"
        " how what up new going doing on feel feeling been treating treat gone happening happened good nice great see"
        " seeing meet meeting talk talking talked speak speaking chat chatting chatted converse conversing"
        " conversation catch catching touch get getting got in of out a lot bunch ton million tons kindly truly"
        " sincerely always time times help helped helping assistance assist assisting assisted support answer answers"
        " answering answered response responses reply info information advice gesture efforts effort work job service"
        " feedback explanation tip tips explaining that which you've quick patience understanding kindness cooperation"
        " can not enough like want wanted would need needed have had having owe around by your think thought thinking"
        " did do done go unnoticed enjoyed enjoy happy enjoyable pleasant pleasure best rest evening morning afternoon"
        " night tomorrow soon later then next until till while bit as usual well say saying said hi let take care easy"
        " run leave leaving must off head heading outta is bed home tonight monday tuesday wednesday thursday friday"
        " saturday sunday long finds hope hoping trust glad pleased too also such thoughtful kind doll star legend"
        " lifesaver gem hero angel champ fine this these those able back busy be tell hanging hang goes feels since"
        " last we'll earlier beautiful excellent far anyway wow why oh because still wake finally guess my dear love"
        " darling honey hun sweetie world universe everyone okay alright peace gave give giving given providing"
        " provided provide making made sharing shared fast speedy prompt lovely question questions useful tremendously"
        " immensely greatly deeply forever bunches works worked safe travels year years stay tuned extremely"
        " incredibly most special sincere big huge heartfelt warm deepest gratitude save saved nailed rule rock"
        " deserve raise solved solve problem generous debt without possibly could know means mean ever hear sleep"
        " tight dreams sweet nothing else over wonderful top tricks shaking cracking weather each other anything"
        " lately fun today's whole entire crew community class gang people ladies gentlemen signing sign kicking"
        " faring fairing along coping holding hows haps word latest poppin popping kick hangin fly doing's been's mood"
        " spirits feelin"
    )
)
# "Wow, impressive": what is thought of it, after a word that acknowledges it.
_SAID_ALONE: Final = _HELLO | _BYE | _THANK | _ACK
_EXCLAIMED: Final = _SAID_ALONE | EVALUATIVE
_BEFORE_A_NAME: Final = (
    _HELLO | _BYE | _THANK | _ACK | _set("there to you so much my dear well why very a lot again and all mr mrs ms dr")
)
_THANKS_FOR: Final = re.compile(
    r"^(?:(?:okay|great|perfect|awesome|cool|nice|oh|well|many|and|so|ah|excellent|wonderful|right|good|yes|yeah"
    r"|that worked|got it|alright|all right|i|just|want|wanted|would like|to|really|a big|big|no) )*"
    r"(?:thanks(?! to (?!you|your|all\b|everyone))|thank you|appreciate|appreciated|grateful|thankful)\b(?:"
    r" \w+){0,4}? (?:for|to (?=you|all)|that|you"
    r"|how|your"
    r"|the|all)\b"
)
_EMOJI: Final = re.compile("[\U0001f300-\U0001faff☀-➿←-⇿⬀-⯿️‍⃣\U0001f1e6-\U0001f1ff♥❤\\s!.,~^:;)(<3xXdDpP'*-]+")


_HOW_IT_WORKS: Final = re.compile(
    r"\bhow (?:do|did|can|could|does) (?:you|it|this|that) (?:even |actually |really )?(?:work|function|know|get"
    r"|come|learn)\b"
)


def is_phatic(sentence: Sentence) -> bool:
    """Whether the sentence greets, thanks, takes leave or acknowledges, and does nothing else."""
    if len(sentence.words) > PHATIC_MAX_WORDS:
        return False
    if _is_phatic(sentence):
        return True
    return "," in sentence.said and not after_pleasantries(sentence).words


def after_pleasantries(sentence: Sentence) -> Sentence:
    """The sentence without the clauses it opens with that only greet or thank: "hi Ana, thanks, …"."""
    rest = sentence
    if len(sentence.words) > PHATIC_MAX_WORDS * 4:
        return sentence
    while (comma := rest.said.find(",")) >= 0:
        count = sum(word.end <= comma for word in rest.words)
        opening = Sentence(rest.said[:comma], rest.words[:count])
        if not count or not _is_phatic(opening):
            return rest
        rest = rest.without_first(count)
    return Sentence("", ()) if rest is not sentence and _is_phatic(rest) else rest


def _is_phatic(sentence: Sentence) -> bool:
    words = sentence.plain_words
    if not words:
        return True
    plain = sentence.plain
    if all(word in _EXCLAIMED for word in words) and any(word in _SAID_ALONE for word in words):
        return True
    if _ACK_PHRASES.match(plain):
        return True
    if all(word in _SOCIAL for word in words) and (_has_core(words) or _NUCLEUS.search(plain)):
        return not _is_about_something(words)
    if (
        len(words) <= THANKS_MAX_WORDS
        and _THANKS_FOR.match(plain)
        and not TURNS_TO_SOMETHING.search(plain)
        and not sentence.asks
    ):
        return True
    return _greets_by_name(words) or is_courteous(sentence)


def is_wordless(text: str) -> bool:
    """Whether a text is nothing but emojis, emoticons and marks."""
    return _EMOJI.fullmatch(text) is not None


def _has_core(words: tuple[str, ...]) -> bool:
    return any(word in _THANK or word in _BYE or word in _HELLO for word in words)


def _is_about_something(words: tuple[str, ...]) -> bool:
    """A question that only starts like a greeting: "hi, what is the time", "what day is it"."""
    if _HOW_IT_WORKS.search(" ".join(words)):
        return True
    asks_after = {"how", "what", "why"}
    return any(word in WH and word not in asks_after for word in words) or (
        "what" in words and not {"up", "new", "going", "happening", "feel", "did", "good"} & set(words)
    )


def _greets_by_name(words: tuple[str, ...]) -> bool:
    """ "Hello Bandit", "good afternoon, Mrs Jones": a greeting and up to two words that name who is greeted."""
    if len(words) > GREETED_MAX_WORDS:
        return False
    greeted = [word for word in words if word not in _SOCIAL]
    known = [word for word in words if word in _HELLO or word in _BYE or word in _THANK]
    if not known or len(greeted) > 2 or any(word in ACTIONS or word in WH or not word.isalpha() for word in greeted):
        return False
    first = len(words) - len(greeted)
    return words[first:] == tuple(greeted) and all(word in _BEFORE_A_NAME for word in words[:first])
