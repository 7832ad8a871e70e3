package figurefile

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// divisors holds, for each unit of stored values, the units in which a value may be written, with
// the number by which such a value is divided.
var divisors = map[string]map[string]float64{
	results.Seconds.Name:         {"s": 1, "sec": 1, "seconds": 1, "ms": 1e3, "µs": 1e6, "us": 1e6, "ns": 1e9},
	results.TokensPerSecond.Name: {"tok/s": 1, "tokens/s": 1, "tokens/sec": 1, "tokens/sec/user": 1},
	results.Tokens.Name:          {"tok": 1, "tokens": 1},
	results.Fraction.Name:        {"%": 100},
}

// number reads a number with or without thousands separators and unit.
func number(text, unit string) (float64, error) {
	text = strings.TrimSpace(text)
	end := strings.LastIndexFunc(text, isDigit) + 1
	digits, suffix := text[:end], strings.TrimSpace(text[end:])
	if strings.HasPrefix(suffix, ".") { // 60.
		digits, suffix = digits+".", suffix[1:]
	}
	divisor := 1.0
	if suffix != "" && digits != "" {
		var known bool
		if divisor, known = divisors[unit][suffix]; !known {
			return 0, problem.Errorf(problem.FiguresInvalid, "%q is not a number in %s", text, unit)
		}
	}
	v, err := plainNumber(digits)
	if err != nil {
		return 0, problem.Errorf(problem.FiguresInvalid, "%q is not a number%s", text, err.Error())
	}
	if divisor != 1 {
		v = round(v / divisor)
	}
	return v, nil
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// round removes the error of a division in the last digits, so that 96.7% is 0.967.
func round(v float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 15, 64), 64)
	if err != nil {
		return v
	}
	return rounded
}

// separators are the thousands separators.
const separators = ",_'’ \u00a0\u2009\u202f"

// plainNumber reads a number without a unit. Its error continues the sentence "x is not a number".
func plainNumber(text string) (float64, error) {
	text = strings.Replace(text, results.Minus, "-", 1)
	if i := strings.IndexAny(text, separators); i >= 0 {
		var err error
		if text, err = withoutSeparators(text); err != nil {
			return 0, err
		}
	}
	digits := strings.TrimLeft(text, "+-")
	octal := len(digits) > 1 && digits[0] == '0' && isDigit(rune(digits[1]))
	if octal || strings.ContainsAny(digits, "xXpP_") {
		return 0, problem.New(problem.FiguresInvalid, " in decimal notation")
	}
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && strings.ContainsAny(text, "."+separators) && !strings.ContainsAny(text, "eE"):
		return 0, problem.New(problem.FiguresInvalid, ": write it with a decimal point, such as 60,822.2 or 60822.2")
	case err != nil || math.IsNaN(v) || math.IsInf(v, 0):
		return 0, problem.New(problem.FiguresInvalid, "")
	}
	return v, nil
}

// withoutSeparators removes thousands separators. They must all be the same, and precede each group
// of three digits of the whole part.
func withoutSeparators(text string) (string, error) {
	notGrouped := problem.New(
		problem.FiguresInvalid,
		": the separators do not group thousands; write it as 60,822.2 or 60822.2",
	)
	whole, fraction, point := strings.Cut(text, ".")
	i := strings.IndexAny(whole, separators)
	if i < 0 {
		return "", notGrouped
	}
	_, size := utf8.DecodeRuneInString(whole[i:])
	separator := whole[i : i+size]
	groups := strings.Split(whole, separator)
	first := strings.TrimLeft(groups[0], "+-")
	ok := len(first) >= 1 && len(first) <= 3 && !strings.ContainsAny(fraction, separators)
	for _, g := range groups[1:] {
		ok = ok && len(g) == 3
	}
	if !ok || strings.ContainsAny(strings.Join(groups, ""), separators+"eE") {
		return "", notGrouped
	}
	if point {
		fraction = "." + fraction
	}
	return strings.Join(groups, "") + fraction, nil
}

// figure reads the value of a metric and checks that it is possible.
func figure(text string, m *results.Metric) (float64, error) {
	v, err := number(text, m.Unit.Name)
	switch {
	case err != nil:
		return 0, err
	case v < 0:
		return 0, problem.Errorf(problem.FiguresInvalid, "%s is negative", strings.TrimSpace(text))
	case m.Unit == results.Fraction && v > 1 && !strings.Contains(text, "%"):
		return 0, problem.Errorf(
			problem.FiguresInvalid,
			"%s must be a fraction from 0 to 1, or a percentage such as %q",
			strings.TrimSpace(text),
			strconv.FormatFloat(min(v, 100), 'f', -1, 64)+"%",
		)
	case m.Unit == results.Fraction && v > 1:
		return 0, problem.Errorf(problem.FiguresInvalid, "%s must be at most 100%%", strings.TrimSpace(text))
	}
	return v, nil
}

// count reads a number of requests or users.
func count(text string) (int, error) {
	v, err := plainNumber(strings.TrimSpace(text))
	switch {
	case err != nil:
		return 0, problem.Errorf(problem.FiguresInvalid, "%q is not a number%s", text, err.Error())
	case v < 0:
		return 0, problem.Errorf(problem.FiguresInvalid, "%s is negative", text)
	case v != math.Trunc(v) || v > 1<<53:
		return 0, problem.Errorf(problem.FiguresInvalid, "%s is not a whole number", text)
	}
	return int(v), nil
}
