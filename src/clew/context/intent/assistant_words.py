"""The words in which people ask an assistant about itself."""

from typing import Final

from clew.context.speech.lexicon import AUXILIARIES, DETERMINERS, PRONOUNS, WH


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# What is asked after: one of these has to be there.
TOPICS: Final = _set(
    "name names named called nickname title designation introduce identity age old birthday birthdate birth born"
    " birthplace hometown nationality origin origins originate originated originally roots come from live lived grow"
    " grew made creator creators created create creation maker built build builder designer designed design developer"
    " developed develop developers programmer programmers programmed programming program coder coded code engineer"
    " engineered engineers inventor invented crafted manufactured manufacturer produced brand owner owns trained boss"
    " bosses manager employer employed employ work working report function supervisor hobby hobbies pastime pastimes"
    " past-times fun interests activities free spare pets pet dog dogs cat cats animal animals real human person being"
    " bot robot machine computer artificial fake alive automated living feelings emotions dream sleep eat bored tired"
    " lonely conscious sentient soul family friends parents siblings married gender male female personality purpose"
    " favorite favourite capable answer answers questions ask asked help assist topics subjects queries tasks"
    " abilities skills yourself algorithms instructions exist existence hobbys job company llm model based accurate"
    " reliable internet access browse web online version cutoff smart language gpt chatgpt claude gemini openai"
    " anthropic powered underlying neural training provider source sources believe trust different siri alexa real-time"
    " realtime private confidential robotic mistakes limits limitations tools plugins languages updated"
    " following listening data"
)
PERSONAL: Final = (
    TOPICS
    | PRONOUNS
    | DETERMINERS
    | AUXILIARIES
    | WH
    | _set(
        "to of in for at by on with about as or and if whether when ai you your yours me us not really actually truly"
        " exactly tell know share say says describe explain give want wanted like liked love enjoy prefer preferred"
        " think believe please curious interested find out get learn hear see kind kinds sort sorts type types many"
        " much long ago years year date day time times country state city place area location region town planet earth"
        " were here there now currently today ever still just also even so well hello hi hey okay let lets talk"
        " talking speaking chat am would could call refer referred address people they who's person's actual full"
        " first last real own any anything something some more most things thing stuff else do doing does done spend"
        " been be being have has had up down credit behind responsible idea information info software hardware team"
        " business organization group someone somebody anyone another other entity than rather either choose pick"
        " between two one what's it is occurred happen happened become came start started supplied gave life"
        " instructions took take care raise raised keep house home around sure wonder wondering question possible may"
        " might can should used use using attention best good able classified knowledge known all every lot favorite"
        " favourites speak mind minds assistance specifically imagine domestic under which paid whom consider"
        " considered yourselves past into originally before moving until base located exist come put together live"
        " inform internal wish make makes remember chats sessions conversations data expect handle offer perform"
        " respond complete permissible allowed aware subject will cannot never sound sounds makes why always later"
        " tomorrow running run runs only documents files english colour color food movie film book song music number"
    )
)
