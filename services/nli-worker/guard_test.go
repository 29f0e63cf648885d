package nliworker

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGuard(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		premise, claim   string
		absent, conflict string
		offTopic         bool
	}{
		{premise: "Harrow Mill was built in 1790 by Josiah Pell.", claim: "Josiah Pell built Harrow Mill in 1790."},
		{premise: "Harrow Mill was built in 1790 by Josiah Pell.", claim: "Harrow Mill was built in 1845.",
			absent: "number 1845", conflict: "the evidence has 1790 where the claim has 1845"},
		// Two years to choose from: no conflict that code can be sure of.
		{premise: "Harrow Mill was built in 1790 and burnt in 1812.", claim: "Harrow Mill was built in 1845.", absent: "number 1845"},
		// The rest differs too much.
		{premise: "Harrow Mill was sold in 1790 to a London merchant.", claim: "Harrow Mill was restored by the engineer Josiah Pell in 1845.", absent: "number 1845"},
		{premise: "The regiment lost 412 men at Arden.", claim: "The regiment lost 512 men at Arden.",
			absent: "number 512", conflict: "the evidence has 412 men where the claim has 512"},
		{premise: "The regiment lost 412 men at Arden.", claim: "The regiment lost more than 400 men at Arden."},
		{premise: "The town has 38,872 inhabitants.", claim: "The town has 38872 inhabitants."},
		{premise: "The town has 38,872 inhabitants.", claim: "The town has 38,900 inhabitants."},
		{premise: "She was born in 1931 and died in 1992.", claim: "She died when she was 61 years old."},
		{premise: "Levin ran five shops in Rome.", claim: "Levin ran 5 shops in Rome."},
		{premise: "Ada Birch studied at Oxford.", claim: "Ada Birch studied at Cambridge.", absent: "name Cambridge"},
		{premise: "Birch was a Canadian chemist.", claim: "Ada Birch came from Canada."},
		{premise: "Corin Hale was a French painter.", claim: "Corin Hale came from France."},
		{premise: "The United States Geological Survey measured it.", claim: "The USGS measured it."},
		{premise: "She served in World War II.", claim: "She served in WWII."},
		{premise: "The junction lies where Kentucky, Virginia and Tennessee meet.", claim: "The three states there are Kentucky, Virginia and Tennessee."},
		{premise: "Corin Hale was born in Leeds.", claim: "Corin Hale was not born in Leeds.", conflict: "the claim denies what the evidence states"},
		{premise: "Corin Hale was born in Leeds.", claim: "Ida Moor died in Turin.", absent: "name Ida Moor", offTopic: true},
		{premise: "Corin Hale was born in Leeds.", claim: "he was born there"},
	} {
		require.Equal(t, c.absent, absent(c.premise, c.claim), "absent: %q => %q", c.premise, c.claim)
		require.Equal(t, c.conflict, conflict(c.premise, c.claim), "conflict: %q => %q", c.premise, c.claim)
		require.Equal(t, c.offTopic, !aboutSame(c.premise, c.claim), "off topic: %q => %q", c.premise, c.claim)
	}
}

func TestNothingDiffers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		premise, claim string
		want           bool
	}{
		{"Harrow Mill was built in 1790 by Josiah Pell.", "Josiah Pell built Harrow Mill.", true},
		{"Harrow Mill was built in 1790 by Josiah Pell.", "Josiah Pell built Harrow Mill in 1845.", false},
		{"Harrow Mill was built in 1790 by Josiah Pell.", "Josiah Pell never built Harrow Mill.", false},
		{"Harrow Mill was sold by Josiah Pell.", "Josiah Pell bought Harrow Mill.", false},
		{"It was so.", "It was.", false},
	} {
		require.Equal(t, c.want, nothingDiffers(c.premise, c.claim), "%q => %q", c.premise, c.claim)
	}
}
