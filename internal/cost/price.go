// Package cost adds up what the judges of a run spent, from the trails of its
// labels, and prices it. It is pure: it reads no stream and makes no call.
package cost

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"go.yaml.in/yaml/v3"
)

// Price is what a model's tokens cost, in units of the currency per million.
type Price struct {
	In  float64 `json:"in"`
	Out float64 `json:"out"`
	// Cached is the price of those input tokens that the endpoint had cached;
	// nil: that of any other.
	Cached *float64 `json:"cached"`
}

const million = 1e6

// Of is what a call with these tokens costs. cached is a part of in.
func (p Price) Of(in, out, cached int) float64 {
	known := p.In
	if p.Cached != nil {
		known = *p.Cached
	}
	cached = min(cached, in)
	return (float64(in-cached)*p.In + float64(cached)*known + float64(out)*p.Out) / million
}

// Validate returns an error for a price that is negative or no number.
func (p Price) Validate() error {
	prices := []float64{p.In, p.Out}
	if p.Cached != nil {
		prices = append(prices, *p.Cached)
	}
	for _, v := range prices {
		if v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("price %v per million tokens: it must be 0 or above", v)
		}
	}
	return nil
}

// Prices is a table of prices by model.
type Prices struct {
	// Models are prices of single models.
	Models map[string]Price
	// Other is the price of every other model; nil: unknown.
	Other *Price
}

// Of is the price of a model; ok is false where it is unknown.
func (p Prices) Of(model string) (price Price, ok bool) {
	if price, ok = p.Models[model]; ok {
		return price, true
	}
	if p.Other != nil {
		return *p.Other, true
	}
	return Price{}, false
}

// Validate returns an error if a price is none.
func (p Prices) Validate() error {
	var errs []error
	for model, price := range p.Models {
		if err := price.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("model %s: %w", model, err))
		}
	}
	if p.Other != nil {
		errs = append(errs, p.Other.Validate())
	}
	return errors.Join(errs...)
}

// LoadPrices reads a YAML map from model names to {in, out, cached}; in and out
// must be there.
func LoadPrices(path string) (map[string]Price, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("price table: %w", err)
	}
	var given map[string]struct {
		In, Out, Cached *float64
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true) // a misspelt price must not pass for none
	if err := d.Decode(&given); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("price table %s: %w", path, err)
	}
	table := make(map[string]Price, len(given))
	for model, p := range given {
		if p.In == nil || p.Out == nil { // nor may a missing one pass for 0
			return nil, fmt.Errorf("price table %s: model %s: give both in and out", path, model)
		}
		table[model] = Price{In: *p.In, Out: *p.Out, Cached: p.Cached}
	}
	if err := (Prices{Models: table}).Validate(); err != nil {
		return nil, fmt.Errorf("price table %s: %w", path, err)
	}
	return table, nil
}
