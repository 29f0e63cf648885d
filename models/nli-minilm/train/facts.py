"""Facts of one subject: which there are, how one is drawn, stated and claimed.

A fact is a relation (a key of RELATIONS), a subject and a value. Everything is
drawn from the random.Random that is handed in.
"""

import words

# relation: (kind of subject, kind of value, quotes, claims, description of the value)
RELATIONS = {
    "birthplace": ("person", "place", ("{s} was born in {v}", "{s}, a native of {v}, went to sea at fifteen", "Born in {v}, {s} was raised by an aunt"), ("{s} was born in {v}", "{v} is the birthplace of {s}", "{s} comes from {v}"), "the birthplace of {s}"),
    "birth": ("person", "year", ("{s} was born in {v}", "{s} (born {d}) retired early", "Born on {d}, {s} was the eldest of five"), ("{s} was born in {v}", "the year in which {s} was born is {v}"), None),
    "death": ("person", "year", ("{s} died in {v}", "{s} died on {d} of a fever", "Until the day of death, {d}, {s} kept a diary"), ("{s} died in {v}", "the death of {s} was in {v}"), None),
    "job": ("person", "job", ("{s} was a {v}", "The {v} {s} spoke at the meeting", "{s} worked as a {v} all life long"), ("{s} was a {v}", "{s} worked as a {v}", "{s}'s profession was that of a {v}"), None),
    "marriage": ("person", "person", ("{s} married {v}", "{s} and {v} were married by a captain", "{v}, the spouse of {s}, kept the accounts"), ("{s} was married to {v}", "{v} was the spouse of {s}", "{s} and {v} were a married couple"), "the spouse of {s}"),
    "prize": ("person", "prize", ("{s} was awarded {v}", "{s} received {v} for a lifetime's work", "The jury gave {v} to {s}"), ("{s} won {v}", "{s} was given {v}", "{v} went to {s}"), None),
    "author": ("title", "person", ("{s} is a novel by {v}", "{v} wrote {s} in a single winter", "{s}, which {v} wrote abroad, sold slowly"), ("{s} was written by {v}", "{v} wrote {s}", "the author of {s} is {v}"), "the author of {s}"),
    "director": ("title", "person", ("{s} is a film by the director {v}", "{v} directed {s}", "{s}, directed by {v}, was shot on an island"), ("{s} was directed by {v}", "{v} is the director of {s}", "{v} directed {s}"), "the director of {s}"),
    "release": ("title", "year", ("{s} came out in {v}", "{s} was released on {d}", "{s} is a picture of {v}"), ("{s} was released in {v}", "{s} came out in {v}"), None),
    "founder": ("firm", "person", ("{s} was founded by {v}", "{v} set up {s} with borrowed money", "{s} was started by {v} in a shed"), ("{v} founded {s}", "the founder of {s} is {v}", "{s} was founded by {v}"), "the founder of {s}"),
    "founding": ("firm", "year", ("{s} was founded in {v}", "Since {v}, {s} has made the same three goods", "{s} began to trade on {d}"), ("{s} was founded in {v}", "{s} has existed since {v}"), None),
    "seat": ("firm", "place", ("{s} has its seat in {v}", "{s}, based in {v}, hired forty people", "The head office of {s} is in {v}"), ("{s} is based in {v}", "{s} has its headquarters in {v}", "the headquarters of {s} are in {v}"), "the city in which {s} has its seat"),
    "chief": ("firm", "person", ("{v} runs {s}", "{s} is headed by {v}", "{v}, head of {s}, declined to comment"), ("{v} is the head of {s}", "{s} is led by {v}", "the head of {s} is {v}"), "the head of {s}"),
    "country": ("hill", "country", ("{s} is a mountain in {v}", "{s} stands in the south of {v}", "{s}, in {v}, is climbed in summer"), ("{s} is in {v}", "{s} is a mountain of {v}", "the country of {s} is {v}"), "the country of {s}"),
    "architect": ("building", "person", ("{s} was designed by {v}", "{v} drew the plans of {s}", "{s} is the work of the architect {v}"), ("{v} designed {s}", "the architect of {s} is {v}", "{s} was designed by {v}"), "the architect of {s}"),
}  # fmt: skip

QUESTIONS = {
    "birthplace": "Where was {s} born?", "birth": "When was {s} born?", "death": "When did {s} die?",
    "job": "What was {s}'s profession?", "marriage": "Who was {s} married to?", "prize": "Which prize did {s} win?",
    "author": "Who wrote {s}?", "director": "Who directed {s}?", "release": "When was {s} released?",
    "founder": "Who founded {s}?", "founding": "When was {s} founded?", "seat": "Where is {s} based?",
    "chief": "Who leads {s}?", "country": "In which country is {s}?", "architect": "Who designed {s}?",
}  # fmt: skip


def draw_person(rng):
    return f"{rng.choice(words.GIVEN)} {rng.choice(words.FAMILY)}"


def draw_firm(rng):
    return f"{rng.choice(words.FIRMS)} {rng.choice(words.TRADES)}"


def draw_building(rng):
    return f"the {rng.choice(words.FAMILY)} {rng.choice(('Library', 'Hotel', 'Theatre', 'Tower', 'Bridge', 'Barracks'))}"


def draw_year(rng):
    return str(rng.randint(1790, 2019))


SUBJECTS = {
    "person": draw_person,
    "firm": draw_firm,
    "building": draw_building,
    "title": lambda rng: f"{rng.choice(words.TITLE_FIRST)} {rng.choice(words.TITLE_LAST)}",
    "hill": lambda rng: "Mount " + rng.choice(words.FAMILY),
}
VALUES = {
    "person": draw_person,
    "year": draw_year,
    "place": lambda rng: rng.choice(words.PLACES),
    "country": lambda rng: rng.choice(words.COUNTRIES),
    "job": lambda rng: rng.choice(words.JOBS),
    "prize": lambda rng: rng.choice(words.PRIZES),
}


def draw_subject(rng, kind):
    return SUBJECTS[kind](rng)


def draw_value(rng, relation):
    return VALUES[RELATIONS[relation][1]](rng)


def draw_fact(rng):
    relation = rng.choice(list(RELATIONS))
    return relation, draw_subject(rng, RELATIONS[relation][0]), draw_value(rng, relation)


def draw_two(rng, make):
    a = make(rng)
    while True:
        b = make(rng)
        if a != b:
            return a, b


def other_subject(rng, relation, subject):
    while True:
        other = draw_subject(rng, RELATIONS[relation][0])
        if other != subject:
            return other


def other_relation(rng, relation):
    others = [r for r, v in RELATIONS.items() if v[0] == RELATIONS[relation][0] and r != relation]
    return rng.choice(others) if others else None


def other_value(rng, relation, value):
    """Return another value: near the right one where it is a year or a name."""
    if RELATIONS[relation][1] == "year":
        return str(int(value) + rng.choice((-100, -21, -10, -4, -1, 1, 2, 9, 10, 30)))
    if RELATIONS[relation][1] == "person" and rng.random() < 0.4:
        given, family = value.split(" ", 1)
        if rng.random() < 0.5:
            return f"{given} {rng.choice([f for f in words.FAMILY if f != family])}"
        return f"{rng.choice([g for g in words.GIVEN if g != given])} {family}"
    while True:
        other = draw_value(rng, relation)
        if other != value:
            return other


def state(rng, relation, subject, value):
    day = value
    if RELATIONS[relation][1] == "year":
        d, m = rng.randint(1, 28), rng.choice(words.MONTHS)
        day = rng.choice((f"{d} {m} {value}", f"{m} {d}, {value}"))
    return rng.choice(RELATIONS[relation][2]).format(s=subject, v=value, d=day)


def claimed(rng, relation, subject, value):
    if rng.random() < 0.2:
        question = QUESTIONS[relation].format(s=subject)
        return rng.choice(("{q} {v}", 'The answer to "{q}" is {v}')).format(q=question, v=value)
    return rng.choice(RELATIONS[relation][3]).format(s=subject, v=value)


def joined(rng, one, two):
    return rng.choice((f"{one} {two}", f"{two} {one}"))


def sentence(text):
    text = text[0].upper() + text[1:]
    return text if text[-1] in '.?!"' else text + "."
