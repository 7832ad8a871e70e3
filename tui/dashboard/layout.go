package dashboard

// wide is from where the steps have a place of their own beside the log.
const wide = 150

const (
	figuresWidth = 52 // label, two columns of numbers and the gaps
	countsWidth  = 18 // and where it is wide two of how many requests are behind them
	leastChart   = 25
	goodChart    = 60 // from twice that there are two
	stepsWidth   = 66
	leastLog     = 3 // lines, below its title
)

// shape is what the layout has to make room for.
type shape struct {
	head    int  // lines of the headline
	figures int  // lines of the table of figures, its header included
	steps   bool // the steps are to be seen
	upper   bool // the steps take the place of the figures
	zoom    bool // the log takes all
}

// layout is where things go, in cells of the body. A width or height of 0 leaves a thing out.
type layout struct {
	head    int
	upperY  int // below the rule that follows the headline
	upper   int // height of figures and charts, or of the steps
	figures int // width
	charts  []int
	logY    int // below the log's title
	log     int // height
	logW    int
	stepsX  int
	stepsW  int
	stepsY  int
	stepsH  int
}

// arrange divides a body of w × h cells. What goes first where it is small: the
// charts, then the last of the figures, then lines of the log.
func arrange(w, h int, s shape) layout {
	l := layout{head: min(s.head, max(h, 0)), logW: w}
	room := h - l.head - 2 // a rule, and the log's title
	if room <= 0 {
		return l
	}
	want := s.figures
	if h > 30 {
		want = max(want, min(h*9/20, 26))
	}
	least := min(leastLog, room/3)
	if room < 9 { // the figures matter more
		least = min(least, 1)
	}
	l.upper = min(want, room-least)
	if s.zoom {
		l.upper = 0
	}
	l.upperY = l.head + 1
	if l.upper == 0 {
		room++
		l.upperY = l.head
	}
	l.log = room - l.upper
	l.logY = h - l.log
	switch {
	case w >= wide && !s.zoom && s.steps:
		l.stepsW = stepsWidth
		l.stepsX, l.stepsY, l.stepsH = w-stepsWidth, l.logY, l.log
		l.logW = w - stepsWidth - 3
	case s.upper:
		l.stepsW, l.stepsY, l.stepsH = w, l.upperY, l.upper
		return l
	}
	l.figures = min(figuresWidth, w)
	if w >= wide {
		l.figures += countsWidth
	}
	if left := w - l.figures - 3; left >= 2*goodChart {
		l.charts = []int{(left - 3) / 2, left - 3 - (left-3)/2}
	} else if left >= leastChart {
		l.charts = []int{left}
	}
	return l
}
