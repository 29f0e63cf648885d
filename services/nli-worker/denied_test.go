package nliworker

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDenied(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, premise, claim string
		denied               bool
	}{
		{"negated", "The pact wasn't sealed in the harbour but in the mint of Skell.", "The pact was sealed in the harbour.", true},
		{"negated, of something else", "The pact wasn't sealed in the harbour but in the mint of Skell.", "The pact was sealed in the mint of Skell.", false},
		{"both deny", "The pact wasn't sealed in the harbour.", "The pact was not sealed in the harbour.", false},
		{"over", "Until 1974 the isle belonged to Marshire.", "The isle belongs to Marshire.", true},
		{"over, and said so", "Until 1974 the isle belonged to Marshire.", "The isle belonged to Marshire.", false},
		{"only a name is over", "Skell (called Skall until 1928) is a port on the Ostra.", "Skell is on the Ostra.", false},
		{"exchanged", "Ida Moor got the better of Orrin Vale in 1901.", "Orrin Vale got the better of Ida Moor.", true},
		{"not exchanged", "Ida Moor got the better of Orrin Vale in 1901.", "Ida Moor got the better of Orrin Vale.", false},
		{"goes both ways", "Ida Moor was married to Orrin Vale.", "Orrin Vale was married to Ida Moor.", false},
		{"second", "Lake Tarn is the second deepest lake of Velland.", "Lake Tarn is the deepest lake of Velland.", true},
		{"first", "Lake Tarn, the deepest lake of Velland, feeds the second longest river.", "Lake Tarn is the deepest lake of Velland.", false},
		{"another count", "The mill has three wheels, and two of them turn.", "The mill has two wheels that turn.", true},
		{"the same count in digits", "The mill has three wheels.", "The mill has 3 wheels.", false},
		{"another weekday", "Kelmet has a market on Thursdays.", "Kelmet has a market on Wednesdays.", true},
		{"another entry", "It has shops in Velland (785), Marshire (186) and Strathay (68).", "There are 186 shops in Strathay.", true},
		{"its own entry", "It has shops in Velland (785), Marshire (186) and Strathay (68).", "There are 68 shops in Strathay.", false},
		{"another role", "Low Water is a film directed by Ida Moor and starring Orrin Vale.", "The director of Low Water is Orrin Vale.", true},
		{"the role", "Low Water is a film directed by Ida Moor and starring Orrin Vale.", "The director of Low Water is Ida Moor.", false},
		{"both roles", "Low Water is a film directed by Ida Moor and starring Orrin Vale.", "Orrin Vale stars in Low Water, which was directed by Ida Moor.", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			why := denied(c.premise, c.claim)
			require.Equal(t, c.denied, why != "", why)
		})
	}
}

func TestNamingHoldsNamesNotTheirWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, name string
		holds      bool
	}{
		{"Karl Johanson was a printer.", "Karl Renner", false},
		{"Renner was a printer.", "Karl Renner", true},
		{"The Falken Hut belongs to a club.", "Falk Hut", false},
		{"James Polk signed it.", "President James K. Polk", true},
		{"The opera house of Larnholm opened in 1911.", "Larnholm Opera House", true},
		{"Elia Hernández Núñez is a politician.", "Sergio Tolento Hernández", false},
		{"It was ceded to the UN.", "United Nations", true},
		{"He came from Norwegian waters.", "Norway", true},
	} {
		require.Equal(t, c.holds, namingOf(c.text).holds(c.name), "%q in %q", c.name, c.text)
	}
}

func TestAmountsInUnitsOfTheEvidence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ premise, claim, want string }{
		{"The bell weighs 6,400 kilograms.", "The bell weighs 6.4 tonnes.", "The bell weighs 6,400 kilograms."},
		{"The bell weighs 6,400 kilograms.", "The bell weighs 4.6 tonnes.", "The bell weighs 4.6 tonnes."},
		{"The park has 92,000 hectares.", "The park has an area of 920 square kilometres.", "The park has an area of 92,000 hectares."},
		{"The dam is 184 metres high.", "The dam is 184 m high.", "The dam is 184 metres high."},
		{"Nothing is measured.", "The dam is 184 m high.", "The dam is 184 m high."},
	} {
		require.Equal(t, c.want, inUnitsOf(c.premise, c.claim))
	}
}
