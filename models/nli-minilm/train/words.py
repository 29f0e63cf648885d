"""Words that the templates are filled with. Everything named here is made up or
common; no text of a data set is in it."""

GIVEN = (
    "Adela Bram Cosima Davit Edda Fergus Gisela Henrik Ilona Jovan Katrin Lorcan Mirela Nils Odile Pavlos "
    "Quentin Runa Silvio Tamar Ulrich Valeria Wendel Xenia Yannick Zelda Arvid Bettina Cyril Dorothea Emeka "
    "Fatou Goran Haruka Idris Jelena Kwame Linnea Mateus Noor Orsolya Pilar Rasmus Saskia Tevita Usha Viggo Wanjiru"
).split()
FAMILY = (
    "Achterberg Bellweather Corrigan Dalgaard Eriksen Fontana Grabowski Halloran Ivarsson Jurado Kessel Lindgren "
    "Mortensen Nakamura Obuya Prentice Quillan Rademaker Santoro Thibault Ulvestad Vandermeer Wexler Yilmaz Zubiri "
    "Ashdown Brankov Callister Dimitrov Estrada Fairbairn Gundersen Hargreave Ishikawa Jankowski Kolbe Lacroix "
    "Madsen Nwosu Orlando Pemberton Rautio Sandoval Tolliver Valenta Winterbourne"
).split()
PLACES = (
    "Aarhus Basel Cork Dresden Esbjerg Freiburg Ghent Haarlem Innsbruck Jena Kassel Lublin Malaga Nantes Odessa "
    "Plovdiv Rouen Szeged Trieste Uppsala Verona Wroclaw Zaragoza Adelaide Boise Calgary Durban Edmonton Fresno "
    "Hobart Kampala Lahore Memphis Nagoya Ottawa Pusan Recife Santiago Tampa Winnipeg"
).split()
COUNTRIES = (
    "Albania Bolivia Cyprus Denmark Estonia Georgia Hungary Iceland Jamaica Kenya Laos Malta Nepal Oman Paraguay "
    "Romania Slovenia Tunisia Uruguay Vietnam Zambia Lithuania Morocco Serbia"
).split()
MONTHS = (
    "January February March April May June July August September October November December"
).split()
SEASONS = {12: "winter", 1: "winter", 2: "winter", 3: "spring", 4: "spring", 5: "spring",
           6: "summer", 7: "summer", 8: "summer", 9: "autumn", 10: "autumn", 11: "autumn"}  # fmt: skip
TITLE_FIRST = "Amber Bitter Copper Drowned Eastern Fallow Gentle Hundred Idle Ivory Little Marble Narrow Open Pale Quiet".split()
TITLE_LAST = "Ferry Almanac Balcony Cellar Divide Estuary Furnace Granary Harvest Island Jetty Ledger Museum Nursery Orphan Parade".split()
FIRMS = "Alder Brightwater Cobalt Dunmore Everly Foxglove Greystone Hawthorn Inverness Juniper Kingsway Larchmont Mosaic Nimbus".split()
TRADES = "Shipping Cement Dairy Optics Insurance Textiles Instruments Brewing Railways Printing".split()
JOBS = (
    "botanist tenor goalkeeper surveyor playwright chemist violinist judge cartographer sculptor nurse geologist "
    "poet engineer trumpeter historian weaver cyclist astronomer editor"
).split()
PRIZES = ("the Aldous Medal", "the Northern Prize", "the Royal Laurel", "the Golden Compass", "the Hartmann Award")
THINGS = (
    ("barrels", "barrel"), ("tickets", "ticket"), ("workers", "worker"), ("ships", "ship"), ("pupils", "pupil"),
    ("members", "member"), ("horses", "horse"), ("paintings", "painting"), ("houses", "house"), ("trees", "tree"),
    ("soldiers", "soldier"), ("copies", "copy"), ("rooms", "room"), ("stations", "station"),
)  # fmt: skip
NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
).split()
