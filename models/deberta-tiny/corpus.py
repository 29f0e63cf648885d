"""The text that the fixtures are made from: own sentences, and labelled pairs."""

_PEOPLE = (
    "Ada Marsh", "Bela Novak", "Carla Dunne", "David Osei", "Elin Sato", "Farid Haddad",
    "Greta Lind", "Hugo Pell", "Ines Rocha", "Jonas Weber", "Kemi Adeyo", "Lars Holm",
)
_TOWNS = (
    "Porto", "Tartu", "Lyon", "Cork", "Ghent", "Izmir", "Turin", "Bergen", "Gdansk", "Malaga",
    "Kyoto", "Quito",
)
_YEARS = ("1874", "1902", "1915", "1931", "1946", "1958", "1963", "1971", "1984", "1990", "2004", "2017")
_WORKS = ("bridge", "harbour", "library", "museum", "mill", "observatory", "theatre", "station", "school", "canal", "tower", "garden")

_PROSE = """
The lighthouse was completed before the railway reached the coast, and ships had used it ever since.
Nobody remembered who had drawn the first map of the valley, although several copies were kept in the archive.
She studied mathematics and music, taught at a small college, and published two books about rivers.
The company was founded by three brothers, sold its first engine within a year, and closed after the war.
In spring the water rises quickly, so the villages above the lake were built on higher ground.
He was elected mayor twice, lost the third election, and moved to another country with his family.
According to the report, the population doubled between the two counts, while the number of farms fell by half.
The novel tells the story of a painter who returns to the island where she was born.
A tunnel of nine kilometres connects the northern district with the airport and the new hospital.
The orchestra played in the old market hall until its own concert hall was opened.
Their daughter became a physician; their son, an engineer, designed the dam that supplies the city.
What is known about the battle comes from letters that were found in a monastery much later.
The species lives in dry forests, feeds on seeds and insects, and is not considered endangered.
It isn't clear whether the treaty was signed in the palace or aboard a ship, but its text survives.
"""


def pairs():
    """Return [(premise, hypothesis, label)]: three hypotheses for each premise."""
    out = []
    for i, person in enumerate(_PEOPLE):
        town, other = _TOWNS[i], _TOWNS[(i + 5) % len(_TOWNS)]
        year, work = _YEARS[i], _WORKS[i]
        premise = f"The {work} in {town} was opened in {year} by {person}."
        out.append((premise, f"{person} opened the {work} in {town}.", "entailment"))
        out.append((premise, f"{person} studied music in {other}.", "neutral"))
        out.append((premise, f"The {work} was opened in {_YEARS[(i + 4) % len(_YEARS)]}.", "contradiction"))
    return out


def words():
    """Return {word: count} over all of the text, words as white space parts them."""
    counts = {}
    text = [_PROSE] + [sentence for premise, hypothesis, _ in pairs() for sentence in (premise, hypothesis)]
    for word in " ".join(text).split():
        counts[word] = counts.get(word, 0) + 1
    return counts


def alphabet():
    """Return the characters beyond ASCII that the Unigram vocabulary knows one by one."""
    ranges = (
        (0x00C0, 0x00FF), (0x0391, 0x03C9), (0x0410, 0x044F), (0x05D0, 0x05EA), (0x0627, 0x064A),
        (0x0300, 0x0304), (0x3042, 0x3060), (0x4E00, 0x4E20), (0x1F600, 0x1F608),
    )
    return [chr(code) for first, last in ranges for code in range(first, last + 1)]
