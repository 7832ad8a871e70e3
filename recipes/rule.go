package recipes

// Rule is one thing that goes wrong with recipes: what bites, and what is right.
// Those with an ID are found before anything is submitted.
type Rule struct {
	ID       string   // as in [Diagnostic]; empty: it can't be known before
	Number   int      // in the reference's table; rules of one number are one gotcha; 0: none
	Severity Severity // that it is reported with, or the highest of several
	Area     string   // field or part of the run
	Bites    string
	Right    string
	Unknown  string // why it can't be known before
}
