package results

import "math"

// Statistics are the figures under the keys of the client's statistics file, by
// section; what is not known is left out.
func (fs Figures) Statistics() map[string]map[string]float64 {
	out := map[string]map[string]float64{}
	for _, m := range metrics {
		v := fs.Of(m.key).Value
		if math.IsNaN(v) {
			continue
		}
		if out[m.section] == nil {
			out[m.section] = map[string]float64{}
		}
		out[m.section][m.name] = v
	}
	return out
}
