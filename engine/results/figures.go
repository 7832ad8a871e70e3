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

// Figure is the value of one metric in one phase. Figures are exact, not sampled or
// approximated by histograms.
type Figure struct {
	Key     string  // snake_case, ends with the unit
	Label   string  // for display
	Unit    string  // of Value: tok/s, s, tok or fraction
	Value   float64 // NaN if there is no data
	N       int     // number of requests behind it; 0 if the client reported it
	Method  string  // how it was computed
	Client  float64 // value in the client's statistics file if it differs by more than 1 %, else NaN
	Invalid string  // why it is invalid, besides the reasons for its phase; empty if it is valid

	Of        int     // number of requests that should be behind it; 0 if unknown
	Class     Class   // empty if Value is NaN
	Low, High float64 // bounds of the true value if it is uncertain, else NaN
	AtLeast   bool    // the true value is at least Value
	// Provisional means that the phase has not ended.
	Provisional bool
	Reasons     []Reason // why it is not exact, those of its phase included, and notes
}

// figure returns a figure of the metric without data.
func (m *Metric) figure() Figure {
	f := noFigure(m.Key)
	f.Label, f.Unit = m.Label, m.Unit.Name
	return f
}

// Text returns the value with thousands separators and unit, such as "1,234 tok/s", or "-" if
// there is no data. A lower bound is "≥ 1,234 tok/s", an uncertain value "1,234 ±5 tok/s", and a
// provisional one "~ 1,234 tok/s".
func (f Figure) Text() string {
	text := f.text(f.Value)
	switch half := f.HalfWidth(); {
	case math.IsNaN(f.Value):
	case f.AtLeast:
		text = "≥ " + text
	case half > 0:
		value, unit, _ := strings.Cut(text, " ")
		width, _, _ := strings.Cut(f.text(f.roundUp(half)), " ")
		text = strings.TrimSpace(value + " ±" + width + " " + unit)
	}
	if f.Provisional && !math.IsNaN(f.Value) {
		text = "~ " + text
	}
	return text
}

// MarkedText is like Text, but ends with "!" if the figure is invalid.
func (f Figure) MarkedText() string {
	if f.IsInvalid() && !math.IsNaN(f.Value) {
		return f.Text() + " !"
	}
	return f.Text()
}

// IsInvalid reports whether the figure is invalid for a reason of its own or of its phase.
func (f Figure) IsInvalid() bool { return f.Class == Invalid || f.Invalid != "" }

// Marked returns a formatted value with the mark of the figure, for views without the
// reasons: "≥ 1,234" or "! 1,234" if it is invalid, "1,234 ±" if it is uncertain, "~ 1,234"
// if it is provisional.
func (f Figure) Marked(value string) string {
	if math.IsNaN(f.Value) {
		return value
	}
	switch {
	case f.AtLeast:
		value = "≥ " + value
	case f.IsInvalid():
		value = "! " + value
	case f.Class == Uncertain:
		value += " ±"
	}
	if f.Provisional {
		value = "~ " + value
	}
	return value
}

// roundUp rounds a value up to the displayed decimals.
func (f Figure) roundUp(v float64) float64 {
	m := FindMetric(f.Key)
	if m == nil {
		return v
	}
	step := math.Pow10(-m.Decimals) / m.Unit.Scale
	return math.Ceil(v/step-1e-9) * step
}

// ClientText returns the client's value like Text, or "" if it agrees with Value.
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

// figureJSON is the JSON form of a Figure.
type figureJSON struct {
	Value   Number `json:"value"`
	Unit    string `json:"unit"`
	N       int    `json:"n"`
	Method  string `json:"method"`
	Client  Number `json:"client,omitzero"`
	Invalid string `json:"invalid,omitempty"`

	Of      int      `json:"of,omitempty"`
	Class   Class    `json:"class,omitempty"`
	Low     Number   `json:"low,omitzero"`
	High    Number   `json:"high,omitzero"`
	AtLeast bool     `json:"at_least,omitempty"`
	Reasons []Reason `json:"reasons,omitempty"`

	Provisional bool `json:"provisional,omitempty"`
}

// MarshalJSON writes unknown values as null.
func (f Figure) MarshalJSON() ([]byte, error) {
	return json.Marshal(figureJSON{
		Value: Number(f.Value), Unit: f.Unit, N: f.N, Method: f.Method, Client: Number(f.Client), Invalid: f.Invalid,
		Of: f.Of, Class: f.Class, Low: Number(f.Low), High: Number(f.High), AtLeast: f.AtLeast, Reasons: f.Reasons,
		Provisional: f.Provisional,
	})
}

// UnmarshalJSON reads the output of MarshalJSON. It ignores the unit, which follows from the key.
func (f *Figure) UnmarshalJSON(data []byte) error {
	v := figureJSON{Value: unknown, Client: unknown, Low: unknown, High: unknown}
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	f.Value, f.Client = float64(v.Value), float64(v.Client)
	f.N, f.Method, f.Invalid = v.N, v.Method, v.Invalid
	f.Low, f.High, f.AtLeast = float64(v.Low), float64(v.High), v.AtLeast
	f.Of, f.Class, f.Reasons, f.Provisional = v.Of, v.Class, v.Reasons, v.Provisional
	if f.Class == "" && f.Invalid != "" { // written before figures had a class
		f.Class = Invalid
	}
	return nil
}

// Number is a float64 that is null in JSON if it is NaN or infinite.
type Number float64

// unknown is the Number for an unknown value.
var unknown = Number(math.NaN())

// IsZero reports whether n is unknown, for the JSON option omitzero.
func (n Number) IsZero() bool { return math.IsNaN(float64(n)) }

// MarshalJSON writes a number or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if f := float64(n); math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// Figures are the figures of a phase, in display order.
type Figures []Figure

// Get returns the figure with a key such as "ttft_p50_s". If there is none, its Value is NaN.
func (fs Figures) Get(key string) Figure {
	if i := slices.IndexFunc(fs, func(f Figure) bool { return f.Key == key }); i >= 0 {
		return fs[i]
	}
	return noFigure(key)
}

func noFigure(key string) Figure {
	nan := math.NaN()
	return Figure{Key: key, Value: nan, Client: nan, Low: nan, High: nan}
}

// MarshalJSON writes an object with one member per figure, in display order.
func (fs Figures) MarshalJSON() ([]byte, error) {
	out := make(Object, 0, len(fs))
	for _, f := range fs {
		out.Add(f.Key, f)
	}
	return out.MarshalJSON()
}

// UnmarshalJSON reads the output of MarshalJSON. It skips figures with unknown keys.
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

// Count formats n with thousands separators.
func Count[N int | int32 | int64](n N) string { return Decimal(float64(n), 0) }

// Decimal formats v with thousands separators and a number of decimals, or as "-" if it is NaN or infinite.
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

// Minus is the minus sign of differences.
const Minus = "\u2212"

// Change formats a relative change, given as a fraction, as a signed percentage.
func Change(fraction float64, decimals int) string {
	sign := "+"
	if fraction < 0 {
		sign = Minus
	}
	return sign + strconv.FormatFloat(math.Abs(fraction)*100, 'f', decimals, 64) + "%"
}

// Percent formats a fraction as a percentage with at most two decimals and no trailing zeros.
func Percent(fraction float64) string {
	return strconv.FormatFloat(math.Round(fraction*1e4)/1e2, 'f', -1, 64) + "%"
}
