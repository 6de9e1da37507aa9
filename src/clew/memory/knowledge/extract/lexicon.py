"""Word lists that the patterns share."""

from typing import Final


def listed(words: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(words.split())


# What has one value at a time, whatever the value looks like.
ATTRIBUTES: Final = listed("""
    address age alias amount approach area average balance birthday branch budget capacity capital carrier category city
    code color colour complexity contact count country currency database date deadline decision degree density
    destination diagnosis dialect diet difficulty dosage dose duration email emphasis employer favorite fee flavor font
    format formation framework frequency gate gender genre goal grade headcount headquarters height hotel hotline hours
    id identifier impact insurer job key kind language layout length level license limit location major manager margin
    material maximum medium minimum mode model mood motto name nationality nickname number occupation opponent origin
    outcome owner password penalty phase phone pin plan platform policy population port position preference price
    priority profession protocol provider pulse quota rank rate rating ratio reason region release religion result
    revenue role room rotation salary schedule score seat setting severity shape size slogan source species speed stage
    status strategy street style surname target temperature theme threshold tier time timeline timeout timezone title
    topic total type unit urgency url username value vendor venue verdict version weight width winner zone
""")
# Attributes that are things or people as well: a quality is one of theirs, and not their value.
ALSO_THINGS: Final = listed("""
    address area capital city contact country employer hotel manager owner plan region room street vendor venue winner
    zone
""")
# People of whom somebody has one, whoever it is.
UNIQUE_PEOPLE: Final = listed("""
    accountant boss cardiologist chair coach dentist doctor fiancé fiancée husband landlady landlord lawyer mentor
    pediatrician physician predecessor spouse successor supervisor surgeon therapist wife ceo cfo cto coo president
""")
# What is a number of somebody.
COUNTS: Final = listed("membership workforce staff enrollment readership audience crowd turnout")
# What is red or green as traffic lights are.
CHECKED: Final = listed("build pipeline ci tests suite checks")
# Days that come back each year: of their date the year is another every time.
YEARLY: Final = listed("birthday anniversary holiday")
# Words that stand for a subject which the clause itself does not tell.
NOBODY: Final = listed("it they he she this that these those there here what who which one someone everyone")
DETERMINERS: Final = listed("the a an our this that these those its their his her my your some any another such")
LINKS: Final = listed("of for in at on from with to by under about as and")
COMPANY_ENDINGS: Final = listed(
    "corp corporation inc incorporated ltd limited llc gmbh plc co company ag sa bv nv holdings group"
)
# Figures of a period: “revenue was 5M in 2023” is about 2023, and says nothing of 2024.
OF_A_PERIOD: Final = listed("""
    revenue sales profit income loss capex opex growth churn rainfall spend spending turnover ebitda earnings bookings
    orders expenses costs margin output production traffic budget attendance inflation emissions shipments deliveries
    donations visits
""")
# Beside one of these a word that may be a verb is a noun.
NOUN_FOLLOWS: Final = listed("""
    the a an our my his her their its this that these those of in on at for with to from by and or no new old first next
    last free basic premium main
""")
PLURAL_PRONOUNS: Final = listed("i we you they people")
# Verbs that say something of their subject without an object.
ALONE_VERBS: Final = listed("""
    bark boot commute compile crash cook dance drink drive exercise exist fail function gamble leak load respond sing
    ski sleep smoke snore swim travel vape vote work
""")
# Verbs whose objects add up, in their base form. Whatever is not here is read as a text and contradicts nothing.
ADDING_VERBS: Final = listed("""
    accept acquire add address affect aim allow announce answer appear apply appoint approve arrange arrive ask attend
    award back ban become believe block book borrow break bring build buy call cancel carry cause celebrate choose claim
    collect comment compete complain complete confirm connect consider consist contain contribute control cook cost
    cover create cut deal decide decline deliver demand deny depend deploy describe design develop discover dislike
    donate draw drink drive drop eat employ enable encrypt end enjoy ensure enter establish exclude expect export face
    favor feature feed fight fill find finish fire fix fly follow found fund gain generate get give grant grow handle
    hate have help hire hold host import improve include increase inherit inspect install integrate introduce invent
    invest invite join keep know lack launch lead learn lease leave lend like link list listen live log lose love
    maintain make manage manufacture meet merge migrate miss monitor move need negotiate notify obtain offer open
    operate order organize outsource own paint partner pass pay perform permit plan play practice prefer prepare present
    produce promise promote propose protect provide publish purchase raise read receive recommend record recruit refuse
    reject release rely remain rent replace report represent request require resemble retry reuse review run save
    schedule score see seek sell send serve share ship show sign sing solve speak spend sponsor start state store study
    submit suffer suggest supply support surpass take talk target teach test track trade train translate travel treat
    try understand update upgrade use validate visit volunteer vote wait want warn watch wear win work write
""")
