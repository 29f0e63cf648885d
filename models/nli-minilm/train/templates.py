"""Pairs of quote and claim made from templates, with their labels.

    templates.py [COUNT]        prints some, to read

A quote states facts about made-up people, places and things. A claim says one of
them again, in the same or other words; or with a number, date, unit, name, role or
negation changed; or says something that the quote leaves open. Every generator
takes a random.Random and returns (quote, claim, label).
"""

import random
import sys

import words
from facts import (
    RELATIONS,
    claimed,
    draw_building,
    draw_fact,
    draw_firm,
    draw_person,
    draw_subject,
    draw_two,
    draw_value,
    draw_year,
    joined,
    other_relation,
    other_subject,
    other_value,
    sentence,
    state,
)

ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)


def generate(count, seed):
    """Return count pairs (quote, claim, label, kind), the same for the same seed."""
    rng = random.Random(seed)
    out = []
    while len(out) < count:
        make = rng.choices(list(GENERATORS), list(GENERATORS.values()))[0]
        quote, claim, label = make(rng)
        if rng.random() < 0.35:
            quote = _surround(rng, quote)
        out.append((quote, sentence(claim), label, make.__name__))
    return out


# --- facts of one subject -------------------------------------------------------


def fact(rng):
    """One stated fact: said again, with another value, of another subject, or another fact."""
    relation, subject, value = draw_fact(rng)
    quote = sentence(state(rng, relation, subject, value))
    draw = rng.random()
    if draw < 0.34:
        return quote, claimed(rng, relation, subject, value), ENTAILMENT
    if draw < 0.66:
        return quote, claimed(rng, relation, subject, other_value(rng, relation, value)), CONTRADICTION
    if draw < 0.80:
        return quote, claimed(rng, relation, other_subject(rng, relation, subject), value), NEUTRAL
    asked = other_relation(rng, relation)
    if asked is None or {asked, relation} == {"birth", "death"}:
        return quote, claimed(rng, relation, subject, value), ENTAILMENT
    return quote, claimed(rng, asked, subject, draw_value(rng, asked)), NEUTRAL


def two_facts(rng):
    """Two facts of one subject whose values could be mistaken for one another."""
    relation, subject, value = draw_fact(rng)
    other = other_relation(rng, relation)
    if other is None:
        return fact(rng)
    second = draw_value(rng, other)
    quotes = [sentence(state(rng, relation, subject, value)), sentence(state(rng, other, subject, second))]
    rng.shuffle(quotes)
    quote = " ".join(quotes)
    if RELATIONS[other][1] == RELATIONS[relation][1] and value != second and rng.random() < 0.5:
        return quote, claimed(rng, relation, subject, second), CONTRADICTION
    if rng.random() < 0.5:
        return quote, claimed(rng, other, subject, second), ENTAILMENT
    return quote, claimed(rng, other, subject, other_value(rng, other, second)), CONTRADICTION


def left_open(rng):
    """A claim about a stated subject that the quote leaves open, often with its own values."""
    relation, subject, value = draw_fact(rng)
    others = [r for r, v in RELATIONS.items() if v[0] == RELATIONS[relation][0] and r != relation]
    if len(others) < 2:
        return fact(rng)
    asked, also = rng.sample(others, 2)
    quote = sentence(state(rng, relation, subject, value))
    if rng.random() < 0.5:
        quote = joined(rng, quote, sentence(state(rng, also, subject, draw_value(rng, also))))
    if {asked, relation} == {"birth", "death"} or {asked, also} == {"birth", "death"}:
        return quote, claimed(rng, relation, subject, value), ENTAILMENT
    if RELATIONS[asked][1] == RELATIONS[relation][1] and rng.random() < 0.6:
        return quote, claimed(rng, asked, subject, value), NEUTRAL
    return quote, claimed(rng, asked, subject, draw_value(rng, asked)), NEUTRAL


def bridge(rng):
    """Two facts that meet in a person; the claim describes that person instead of naming it."""
    first = rng.choice([r for r, v in RELATIONS.items() if v[1] == "person"])
    second = rng.choice([r for r, v in RELATIONS.items() if v[0] == "person" and v[1] != "person"])
    subject = draw_subject(rng, RELATIONS[first][0])
    person = draw_person(rng)
    value = draw_value(rng, second)
    one, two = sentence(state(rng, first, subject, person)), sentence(state(rng, second, person, value))
    described = RELATIONS[first][4].format(s=subject)
    claim = claimed(rng, second, described, value)
    draw = rng.random()
    if draw < 0.36:
        return joined(rng, one, two), claim, ENTAILMENT
    if draw < 0.62:
        return joined(rng, one, two), claimed(rng, second, described, other_value(rng, second, value)), CONTRADICTION
    if draw < 0.78:
        return one, claim, NEUTRAL
    if draw < 0.90:
        return two, claim, NEUTRAL
    stranger = sentence(state(rng, second, draw_person(rng), value))
    return joined(rng, one, stranger), claim, NEUTRAL


# --- who did what to whom -------------------------------------------------------

# (active, passive participle, the same fact told from the other side, or None)
DEEDS = (
    ("defeated", "defeated", "{o} lost to {s}"), ("taught", "taught", "{o} was a pupil of {s}"),
    ("sold the mill to", None, "{o} bought the mill from {s}"), ("bought the patent from", None, "{o} sold the patent to {s}"),
    ("hired", "hired", "{o} was given work by {s}"), ("rescued", "rescued", "{o} was saved by {s}"),
    ("sued", "sued", "{o} was taken to court by {s}"), ("succeeded", "succeeded", "{o} was the predecessor of {s}"),
    ("painted a portrait of", None, "{o} was portrayed by {s}"), ("lent money to", None, "{o} borrowed money from {s}"),
    ("arrested", "arrested", "{s} put {o} under arrest"), ("dismissed", "dismissed", "{o} lost the post because of {s}"),
    ("overtook", "overtaken", "{o} fell behind {s}"), ("outbid", "outbid", "{o} offered less than {s}"),
    ("inherited the estate from", None, "{o} left the estate to {s}"),
    ("outlived", "outlived", "{o} died before {s}"), ("employed", "employed", "{o} worked for {s}"),
)  # fmt: skip
SETTINGS = ("in {y}", "after the war", "in the spring of {y}", "at the trial in {p}", "in {p}", "without a word of warning")


def role(rng):
    """A deed told again, from the other side, or with the roles exchanged."""
    verb, participle, converse = rng.choice(DEEDS)
    s, o = draw_two(rng, draw_person)
    setting = rng.choice(SETTINGS).format(y=draw_year(rng), p=rng.choice(words.PLACES))
    ways = [lambda s, o: f"{s} {verb} {o}"]
    if participle:
        ways.append(lambda s, o: f"{o} was {participle} by {s}")
    if converse:
        ways.append(lambda s, o: converse.format(s=s, o=o))
    quote = sentence(f"{rng.choice(ways)(s, o)} {setting}")
    way = rng.choice(ways)
    draw = rng.random()
    if draw < 0.42:
        return quote, way(s, o), ENTAILMENT
    if draw < 0.84:
        return quote, way(o, s), CONTRADICTION
    if draw < 0.92:
        return quote, way(s, draw_person(rng)), NEUTRAL
    deed = rng.choice([d for d in DEEDS if d[0] != verb])
    return quote, f"{s} {deed[0]} {o}", NEUTRAL


# --- numbers, quantities, units -------------------------------------------------


def number(rng):
    """A count: the same in digits or words, changed, or bounded."""
    plural, _ = rng.choice(words.THINGS)
    holder = rng.choice((draw_firm, draw_building, lambda r: "The village of " + r.choice(words.PLACES)))(rng)
    verb, noun = rng.choice((("has", "have"), ("counts", "count"), ("had", "have")))[0], plural
    n = rng.choice((rng.randint(2, 20), rng.randint(21, 400), rng.randint(401, 9000), rng.randint(10, 900) * 1000))
    quote = sentence(f"{holder} {verb} {_count(rng, n)} {noun}")
    other = _wrong_number(rng, n)
    draw = rng.random()
    if draw < 0.25:
        return quote, f"{holder} {verb} {_count(rng, n)} {noun}", ENTAILMENT
    if draw < 0.55:
        return quote, f"{holder} {verb} {_count(rng, other)} {noun}", CONTRADICTION
    below, above = max(1, int(n * rng.uniform(0.4, 0.93))), int(n * rng.uniform(1.07, 2)) + 1
    if draw < 0.70:
        claim = rng.choice((f"more than {_count(rng, below)}", f"over {_count(rng, below)}", f"fewer than {_count(rng, above)}", f"at least {_count(rng, below)}", f"less than {_count(rng, above)}"))
        return quote, f"{holder} {verb} {claim} {noun}", ENTAILMENT
    if draw < 0.88:
        claim = rng.choice((f"more than {_count(rng, above)}", f"over {_count(rng, above)}", f"fewer than {_count(rng, below)}", f"at most {_count(rng, below)}", f"less than {_count(rng, below)}"))
        return quote, f"{holder} {verb} {claim} {noun}", CONTRADICTION
    thing = rng.choice([t for t, _ in words.THINGS if t != plural])
    return quote, f"{holder} {verb} {_count(rng, n)} {thing}", NEUTRAL


def share(rng):
    """All, most, half, few, none of a group."""
    plural, _ = rng.choice(words.THINGS)
    deed = rng.choice(("were lost in the fire", "were moved to {p}", "were counted in {y}", "were new", "came from {p}"))
    deed = deed.format(p=rng.choice(words.PLACES), y=draw_year(rng))
    total = rng.randint(3, 40) * 10
    part = rng.choice((0, rng.randint(1, total // 5), total // 2, rng.randint(total * 6 // 10, total - 1), total))
    quote = {0: f"None of the {total} {plural} {deed}", total: f"All {total} {plural} {deed}"}.get(
        part, f"Of the {total} {plural}, {part} {deed}"
    )
    fits = {
        "all of the": part == total, "none of the": part == 0, "most of the": part > total / 2,
        "fewer than half of the": part < total / 2, "some of the": part > 0, "not all of the": part < total,
        "half of the": part == total / 2,
    }  # fmt: skip
    wanted = rng.random() < 0.5
    claim = rng.choice([c for c, holds in fits.items() if holds == wanted])
    return sentence(quote), f"{claim} {plural} {deed}", ENTAILMENT if wanted else CONTRADICTION


# (unit, another of the same dimension, a smaller one, how many of that it has)
UNITS = (
    ("kilometres", "miles", "metres", 1000), ("metres", "feet", "centimetres", 100), ("tonnes", "pounds", "kilograms", 1000),
    ("kilograms", "pounds", "grams", 1000), ("hours", "days", "minutes", 60), ("days", "weeks", "hours", 24),
    ("years", "months", "months", 12), ("weeks", "months", "days", 7), ("litres", "gallons", "millilitres", 1000),
    ("euros", "dollars", "cents", 100), ("hectares", "acres", None, 0), ("million francs", "thousand francs", None, 0),
)  # fmt: skip
MEASURES = {
    "kilometres": ("{s} is {v} long", "the length of {s} is {v}"), "metres": ("{s} is {v} high", "the height of {s} is {v}"),
    "tonnes": ("{s} weighs {v}", "the weight of {s} is {v}"), "kilograms": ("{s} weighs {v}", "the weight of {s} is {v}"),
    "hours": ("{s} took {v}", "{s} lasted {v}"), "days": ("{s} took {v}", "{s} lasted {v}"), "years": ("{s} took {v}", "{s} lasted {v}"),
    "weeks": ("{s} took {v}", "{s} lasted {v}"), "litres": ("{s} holds {v}", "the capacity of {s} is {v}"),
    "euros": ("{s} cost {v}", "the price of {s} was {v}"), "hectares": ("{s} covers {v}", "the area of {s} is {v}"),
    "million francs": ("{s} cost {v}", "the price of {s} was {v}"),
}  # fmt: skip
MEASURED = {
    "kilometres": ("the canal", "the tunnel", "the coast road"), "metres": ("the tower", "the dam", "the statue"),
    "tonnes": ("the bell", "the crane", "the stone"), "kilograms": ("the parcel", "the trophy", "the anchor"),
    "hours": ("the flight", "the operation", "the debate"), "days": ("the voyage", "the siege", "the festival"),
    "years": ("the restoration", "the lawsuit", "the survey"), "weeks": ("the strike", "the training", "the trial"),
    "litres": ("the tank", "the cask", "the boiler"), "euros": ("the ticket", "the dictionary", "the repair"),
    "hectares": ("the park", "the estate", "the reserve"), "million francs": ("the theatre", "the painting", "the railway"),
}  # fmt: skip


def unit(rng):
    """A measure: the same, in a smaller unit, with the unit or the number changed."""
    name, swapped, smaller, factor = rng.choice(UNITS)
    subject = rng.choice(MEASURED[name])
    n = rng.randint(2, 60) if rng.random() < 0.6 else rng.randint(61, 900)
    say = lambda value: rng.choice(MEASURES[name]).format(s=subject, v=value)  # noqa: E731
    quote = sentence(say(f"{n:,} {name}") + rng.choice(("", ", as the records show", f" and was praised in {rng.choice(words.PLACES)}")))
    draw = rng.random()
    if draw < 0.25:
        return quote, say(f"{n:,} {name}"), ENTAILMENT
    if draw < 0.40 and smaller:
        return quote, say(f"{n * factor:,} {smaller}"), ENTAILMENT
    if draw < 0.70:
        return quote, say(f"{n:,} {swapped}"), CONTRADICTION
    return quote, say(f"{_wrong_number(rng, n):,} {name}"), CONTRADICTION


def compared(rng):
    """Two things with a value each, compared or exchanged."""
    name = rng.choice(("kilometres", "metres", "tonnes", "years", "euros", "hectares"))
    more = {"kilometres": "longer", "metres": "higher", "tonnes": "heavier", "years": "older", "euros": "more expensive", "hectares": "larger"}[name]
    less = {"kilometres": "shorter", "metres": "lower", "tonnes": "lighter", "years": "younger", "euros": "cheaper", "hectares": "smaller"}[name]
    a, b = draw_two(rng, draw_person if name == "years" else lambda r: r.choice(("the old", "the new", "the first", "the second", "the northern", "the southern")) + " one")
    x, y = sorted(rng.sample(range(12, 300), 2))
    if rng.random() < 0.5:
        quote = f"{a} measures {x} {name} and {b} {y} {name}" if name != "years" else f"{a} is {x % 60 + 10} and {b} is {x % 60 + 10 + (y - x) % 30 + 1}"
        ways = (f"{b} is {more} than {a}", f"{a} is {less} than {b}")
        wrong = (f"{a} is {more} than {b}", f"{b} is {less} than {a}", f"{a} and {b} are equal")
        return (sentence(quote), rng.choice(ways), ENTAILMENT) if rng.random() < 0.5 else (sentence(quote), rng.choice(wrong), CONTRADICTION)
    quote = sentence(rng.choice((f"{b} is {more} than {a}", f"{a} is {less} than {b}")))
    if rng.random() < 0.5:
        return quote, rng.choice((f"{b} is {more} than {a}", f"{a} is {less} than {b}")), ENTAILMENT
    return quote, rng.choice((f"{a} is {more} than {b}", f"{b} is {less} than {a}")), CONTRADICTION


def exchanged(rng):
    """Two subjects with a value each in one quote; the claim takes the other's."""
    relation = rng.choice([r for r, v in RELATIONS.items() if v[1] in ("place", "year", "job", "person", "country")])
    kind = RELATIONS[relation][0]
    a, b = draw_two(rng, lambda r: draw_subject(r, kind))
    v = draw_value(rng, relation)
    w = other_value(rng, relation, v)
    quote = joined(rng, sentence(state(rng, relation, a, v)), sentence(state(rng, relation, b, w)))
    if rng.random() < 0.5:
        return quote, claimed(rng, relation, a, v), ENTAILMENT
    return quote, claimed(rng, relation, a, w), CONTRADICTION


# --- dates ----------------------------------------------------------------------

EVENTS = (
    "the bridge was opened", "the treaty was signed", "the ship was launched", "the first issue appeared", "the theatre burnt down",
    "the museum was founded", "{n} arrived in {p}", "{n} left {p}", "{n} gave up the office", "the line to {p} was closed",
)  # fmt: skip


def date(rng):
    """An event on a day: told less exactly, on another day, or bounded."""
    event = rng.choice(EVENTS).format(n=draw_person(rng), p=rng.choice(words.PLACES))
    day, month, year = rng.randint(1, 28), rng.randint(1, 12), int(draw_year(rng))
    name = words.MONTHS[month - 1]
    full = rng.choice((f"on {day} {name} {year}", f"on {name} {day}, {year}"))
    quote = sentence(rng.choice((f"{event} {full}", f"{full}, {event}")))
    draw = rng.random()
    if draw < 0.45:
        when = rng.choice((f"in {year}", f"in {name} {year}", f"on {day} {name} {year}", f"in the {words.SEASONS[month]} of {year}" if month != 12 else f"in {year}",
                           f"in the {year // 10 * 10}s", f"before {year + rng.randint(1, 9)}", f"after {year - rng.randint(1, 9)}"))  # fmt: skip
        return quote, f"{event} {when}", ENTAILMENT
    if draw < 0.9:
        wrong_month = words.MONTHS[(month - 1 + rng.randint(1, 11)) % 12]
        wrong_year = year + rng.choice((-100, -20, -10, -9, -3, -2, -1, 1, 2, 4, 8, 10, 20))
        wrong_day = (day + rng.randint(1, 26)) % 28 + 1
        if wrong_day == day:
            wrong_day = day + 1
        when = rng.choice((f"in {wrong_year}", f"in {wrong_month} {year}", f"on {wrong_day} {name} {year}", f"on {day} {wrong_month} {year}",
                           f"in the {year // 10 * 10 + rng.choice((-20, -10, 10))}s", f"before {year - rng.randint(1, 9)}", f"after {year + rng.randint(1, 9)}"))  # fmt: skip
        return quote, f"{event} {when}", CONTRADICTION
    other = rng.choice(EVENTS).format(n=draw_person(rng), p=rng.choice(words.PLACES))
    return (quote, f"{other} in {year}", NEUTRAL) if other != event else (quote, f"{event} in {year}", ENTAILMENT)


# --- negation -------------------------------------------------------------------

# (done, not done, other ways to say done, other ways to say not done)
NEGATED = (
    ("{n} signed the contract", "{n} did not sign the contract", ("{n} put a name under the contract",), ("{n} refused to sign the contract", "{n} never signed the contract")),
    ("{n} attended the meeting", "{n} did not attend the meeting", ("{n} was present at the meeting",), ("{n} was absent from the meeting", "{n} stayed away from the meeting")),
    ("the council approved the plan", "the council did not approve the plan", ("the plan was approved by the council",), ("the council rejected the plan", "the plan was turned down by the council")),
    ("the bridge was damaged in the storm", "the bridge was not damaged in the storm", ("the storm did damage to the bridge",), ("the bridge came through the storm unharmed",)),
    ("{n} finished the course", "{n} did not finish the course", ("{n} completed the course",), ("{n} broke off the course", "{n} failed to complete the course")),
    ("the village has a school", "the village has no school", ("there is a school in the village",), ("there is no school in the village", "the village is without a school")),
    ("{n} was at home that night", "{n} was not at home that night", ("that night {n} was at home",), ("{n} was away from home that night",)),
    ("the firm paid its debts", "the firm did not pay its debts", ("the firm's debts were paid",), ("the firm left its debts unpaid", "the firm failed to pay its debts")),
    ("{n} accepted the offer", "{n} did not accept the offer", ("the offer was accepted by {n}",), ("{n} declined the offer", "{n} turned the offer down")),
    ("the painting is genuine", "the painting is not genuine", ("it is a genuine painting",), ("the painting is a forgery", "the painting is a fake")),
    ("visitors may enter the garden", "visitors may not enter the garden", ("the garden is open to visitors",), ("the garden is closed to visitors", "visitors are not allowed into the garden")),
    ("{n} ever visited {p}", "{n} never visited {p}", ("{n} went to {p}",), ("{n} never set foot in {p}",)),
)  # fmt: skip
FRAMES = ("{t}", "According to the minutes, {t}", "{t}, as the papers of {p} wrote", "In {y} {t}", "{t}, which surprised nobody")


def negation(rng):
    """Something done or not done, said with or without a negation."""
    fill = dict(n=draw_person(rng), p=rng.choice(words.PLACES))
    done, undone, done_ways, undone_ways = rng.choice(NEGATED)
    done = done.replace(" ever visited", " visited")
    positive, negative = [done, *done_ways], [undone, *undone_ways]
    happened = rng.random() < 0.5
    stated = rng.choice(positive if happened else negative)
    frame = rng.choice(FRAMES).format(t=stated.format(**fill), p=rng.choice(words.PLACES), y=draw_year(rng))
    same = rng.random() < 0.5
    claim = rng.choice(positive if happened == same else negative).format(**fill)
    return sentence(frame), claim, ENTAILMENT if same else CONTRADICTION


def denied(rng):
    """A fact of a relation, denied in the claim or in the quote."""
    relation, subject, value = draw_fact(rng)
    claim = RELATIONS[relation][3][0].format(s=subject, v=value)
    for verb, denial in ((" was ", " was not "), (" is ", " is not "), (" won ", " did not win "), (" died ", " did not die ")):
        if verb in claim:
            no = claim.replace(verb, denial, 1)
            draw = rng.random()
            if draw < 0.45:
                return sentence(state(rng, relation, subject, value)), no, CONTRADICTION
            if draw < 0.65:
                return sentence(no), claim, CONTRADICTION
            if draw < 0.80:
                return sentence(no), no, ENTAILMENT
            # A value that isn't the stated one is rightly denied.
            wrong = other_value(rng, relation, value)
            return sentence(state(rng, relation, subject, value)), no.replace(value, wrong), ENTAILMENT
    return fact(rng)


GENERATORS = {
    fact: 16, two_facts: 9, left_open: 22, bridge: 14, role: 14, number: 9, share: 5, unit: 7, compared: 5, exchanged: 8, date: 10,
    negation: 8, denied: 6,
}  # fmt: skip


# --- parts ----------------------------------------------------------------------


def _count(rng, n):
    if n < len(words.NUMBER_WORDS) and rng.random() < 0.5:
        return words.NUMBER_WORDS[n]
    return f"{n:,}" if rng.random() < 0.7 else str(n)


def _wrong_number(rng, n):
    """Return another number: two digits exchanged, one replaced, or some way off."""
    digits = list(str(n))
    if len(digits) > 1 and rng.random() < 0.4 and digits[0] != digits[1] and digits[1] != "0":
        digits[0], digits[1] = digits[1], digits[0]
        return int("".join(digits))
    if rng.random() < 0.5:
        at = rng.randrange(len(digits))
        digits[at] = rng.choice([d for d in "123456789" if d != digits[at]])
        return int("".join(digits))
    return n + rng.choice([d for d in (-3, -2, -1, 1, 2, 3, 5, 10, n, 9 * n) if n + d > 0 and d])


def _surround(rng, quote):
    """Put a sentence about something else before or after the quote."""
    relation, subject, value = draw_fact(rng)
    return joined(rng, quote, sentence(state(rng, relation, subject, value)))


if __name__ == "__main__":
    for quote, claim, label, kind in generate(int(sys.argv[1]) if len(sys.argv) > 1 else 40, 1):
        print(f"{kind:10} {'ENC'[label]}  {quote}  =>  {claim}")
