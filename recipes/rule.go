package recipes

// Rule is one thing that goes wrong with recipes: the pitfall, and the fix.
// Those with an ID are found before anything is submitted.
type Rule struct {
	ID       string   // as in [Diagnostic]; empty: it can't be known before
	Number   int      // in the reference's table; rules of one number are one pitfall; 0: none
	Severity Severity // that it is reported with, or the highest of several
	Area     string   // field or part of the run
	Pitfall  string   `json:"Bites"`
	Fix      string   `json:"Right"`
	Unknown  string   // why it can't be known before
}
