package padding

// Words of the texts. None of the names is anybody's.
var (
	given  = []string{"Odrun", "Tavish", "Brenka", "Ulvo", "Sispa", "Morwen", "Jaap", "Kerrin", "Dolf", "Yevka", "Pirmin", "Agda"}
	family = []string{"Quarn", "Vostle", "Threll", "Bimsley", "Ockerby", "Zandt", "Fennimor", "Kwill", "Drabble", "Stroon", "Umfrey"}
	towns  = []string{"Dramhall", "Usk-on-Mere", "Vandry", "Brockle", "Little Sumth", "Ghentry", "Oxmoor Dell", "Plimton", "Skarrow", "Zeld"}
	crafts = []string{"Tram cleaners", "Beekeepers", "Bell ringers", "Cheese turners", "Locksmiths", "Net menders", "Chimney sweeps", "Ropewalkers", "Button sorters"}
	things = []string{"wheelbarrow", "weathervane", "fish market", "umbrella stand", "pickle barrel", "clothes line", "lamp post", "snow plough", "tea urn"}
	deeds  = []string{
		"rehearsed in an empty barn", "compared notes over porridge", "measured the drift of sand", "repaired a green umbrella",
		"argued about knots", "painted a fence", "counted geese", "mislaid the keys to the shed", "boiled nettles",
		"waited for the ferry", "hung lanterns along a quay", "learned to whistle",
	}
	foreign = []string{
		"Вчера пекари долго спорили о погоде и считали мешки.", "Старая лодка стоит у причала с прошлой зимы.",
		"昨天面包师们谈论了天气。", "旧船停在码头旁边，没有人去看它。", "港の近くで古い傘を直した。", "パン屋は朝早く店を開ける。",
		"تحدث الخبازون أمس عن الطقس.", "يقف القارب القديم بجانب الرصيف.", "האופים דיברו אתמול על מזג האוויר.",
		"बेकर ने कल मौसम के बारे में बात की।", "빵집 주인은 아침 일찍 문을 연다.", "Οι φούρναροι μιλούσαν χθες για τον καιρό.",
	}
)
