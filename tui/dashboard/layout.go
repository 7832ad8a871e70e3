package dashboard

// wideWidth is the width from which the steps are beside the log.
const wideWidth = 150

const (
	figuresWidth   = 52 // label and two columns of numbers
	countsWidth    = 18 // two columns of counts, in a wide terminal
	minChartWidth  = 25
	wideChartWidth = 60 // two charts if both have this width
	stepsWidth     = 66
	minLogHeight   = 3 // without its title
)

// content is what the layout has to place.
type content struct {
	headLines           int  // of the headline
	figureLines         int  // of the table of figures, with its header
	steps               bool // show the steps
	stepsReplaceFigures bool // show the steps instead of the figures
	zoom                bool // show only the log
}

// layout has the positions and sizes of the parts of the body, in cells. A size of 0 hides a part.
type layout struct {
	headH       int
	upperY      int // below the rule under the headline
	upperH      int // of figures and charts, or of the steps
	figuresW    int // width
	chartWidths []int
	logY        int // below its title
	logH        int // height
	logW        int
	stepsX      int
	stepsW      int
	stepsY      int
	stepsH      int
}

// arrangeLayout divides a body of w × h cells. A small body drops the charts first,
// then the last figures, then lines of the log.
func arrangeLayout(w, h int, c content) layout {
	l := layout{headH: min(c.headLines, max(h, 0)), logW: w}
	room := h - l.headH - 2 // a rule and the log's title
	if room <= 0 {
		return l
	}
	want := c.figureLines
	if h > 30 {
		want = max(want, min(h*9/20, 26))
	}
	minLog := min(minLogHeight, room/3)
	if room < 9 { // the figures are more important
		minLog = min(minLog, 1)
	}
	l.upperH = min(want, room-minLog)
	if c.zoom {
		l.upperH = 0
	}
	l.upperY = l.headH + 1
	if l.upperH == 0 {
		room++
		l.upperY = l.headH
	}
	l.logH = room - l.upperH
	l.logY = h - l.logH
	switch {
	case w >= wideWidth && !c.zoom && c.steps:
		l.stepsW = stepsWidth
		l.stepsX, l.stepsY, l.stepsH = w-stepsWidth, l.logY, l.logH
		l.logW = w - stepsWidth - 3
	case c.stepsReplaceFigures:
		l.stepsW, l.stepsY, l.stepsH = w, l.upperY, l.upperH
		return l
	}
	l.figuresW = min(figuresWidth, w)
	if w >= wideWidth {
		l.figuresW += countsWidth
	}
	if chartsW := w - l.figuresW - 3; chartsW >= 2*wideChartWidth {
		l.chartWidths = []int{(chartsW - 3) / 2, chartsW - 3 - (chartsW-3)/2}
	} else if chartsW >= minChartWidth {
		l.chartWidths = []int{chartsW}
	}
	return l
}
