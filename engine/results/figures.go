package results

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

const methodStated = "as stated by the client"

// Figure is one metric of one phase. Figures are exact: no histogram, no sampling.
type Figure struct {
	Key     string  // snake_case, with the unit at its end
	Label   string  // for people
	Unit    string  // of Value: tok/s, s, tok or fraction
	Value   float64 // NaN without data
	N       int     // requests it was formed over; 0 when it is as stated by the client
	Method  string  // how it was formed
	Client  float64 // what the client's statistics file says, if that is more than 1 % off; else NaN
	Invalid string  // why it must not be trusted, beyond the reasons of its phase; else empty
}

// figure of a metric without data.
func (m *Metric) figure() Figure {
	return Figure{Key: m.Key, Label: m.Label, Unit: m.Unit.Name, Value: math.NaN(), Client: math.NaN()}
}

// Text is the value as people read it, with thousands separators and unit; a dash without data.
func (f Figure) Text() string { return f.text(f.Value) }

// ClientText is the client's value as people read it; empty where it says the same.
func (f Figure) ClientText() string {
	if math.IsNaN(f.Client) {
		return ""
	}
	return f.text(f.Client)
}

func (f Figure) text(v float64) string {
	if m := FindMetric(f.Key); m != nil {
		return m.Text(v)
	}
	return "-"
}

// figureJSON is a Figure as it is written, under its key.
type figureJSON struct {
	Value   Number `json:"value"`
	Unit    string `json:"unit"`
	N       int    `json:"n"`
	Method  string `json:"method"`
	Client  Number `json:"client,omitzero"`
	Invalid string `json:"invalid,omitempty"`
}

// MarshalJSON writes null for what is not known.
func (f Figure) MarshalJSON() ([]byte, error) {
	return json.Marshal(figureJSON{Number(f.Value), f.Unit, f.N, f.Method, Number(f.Client), f.Invalid})
}

// UnmarshalJSON reads what MarshalJSON wrote, but for the unit, which is the metric's.
func (f *Figure) UnmarshalJSON(data []byte) error {
	v := figureJSON{Value: unknown, Client: unknown}
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	f.Value, f.Client = float64(v.Value), float64(v.Client)
	f.N, f.Method, f.Invalid = v.N, v.Method, v.Invalid
	return nil
}

// Number is null in JSON when it is NaN or infinite.
type Number float64

// unknown is a Number that is not known.
var unknown = Number(math.NaN())

// IsZero reports whether there is nothing to write.
func (n Number) IsZero() bool { return math.IsNaN(float64(n)) }

// MarshalJSON writes a number or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if f := float64(n); math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// Figures are all figures of a phase, in the order in which they are shown.
type Figures []Figure

// Get returns the figure with a key such as "ttft_p50_s"; without one, a figure whose Value is NaN.
func (fs Figures) Get(key string) Figure {
	if i := slices.IndexFunc(fs, func(f Figure) bool { return f.Key == key }); i >= 0 {
		return fs[i]
	}
	return Figure{Key: key, Value: math.NaN(), Client: math.NaN()}
}

// MarshalJSON writes one object, a member a figure, in order.
func (fs Figures) MarshalJSON() ([]byte, error) {
	out := make(Object, 0, len(fs))
	for _, f := range fs {
		out.Add(f.Key, f)
	}
	return out.MarshalJSON()
}

// UnmarshalJSON reads what MarshalJSON wrote. Figures that this version does not know are left out.
func (fs *Figures) UnmarshalJSON(data []byte) error {
	var all map[string]Figure
	if err := json.Unmarshal(data, &all); err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	*fs = nil
	for _, m := range Metrics {
		if f, ok := all[m.Key]; ok {
			f.Key, f.Label, f.Unit = m.Key, m.Label, m.Unit.Name
			*fs = append(*fs, f)
		}
	}
	return nil
}

// Count prints n with thousands separators.
func Count[N int | int32 | int64](n N) string { return Decimal(float64(n), 0) }

// Decimal prints v with thousands separators and so many decimals; a dash for NaN and infinity.
func Decimal(v float64, decimals int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	text := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if decimals > 0 {
		whole += "." + fraction
	}
	if v < 0 && strings.Trim(text, "0.") != "" {
		whole = "-" + whole
	}
	return whole
}

// Minus is the sign that comparisons print.
const Minus = "\u2212"

// Change prints a change, a fraction, as a percentage with its sign.
func Change(fraction float64, decimals int) string {
	sign := "+"
	if fraction < 0 {
		sign = Minus
	}
	return sign + strconv.FormatFloat(math.Abs(fraction)*100, 'f', decimals, 64) + "%"
}

// Percent prints a fraction as a percentage with no more decimals than it needs, and at most two.
func Percent(fraction float64) string {
	return strconv.FormatFloat(math.Round(fraction*1e4)/1e2, 'f', -1, 64) + "%"
}
