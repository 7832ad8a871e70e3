package ui

import (
	"fmt"
	"testing"

	"charm.land/bubbles/v2/table"
)

// BenchmarkTable moves the cursor in a table of 40 rows and draws it in 200 columns,
// and does the same with the table of bubbles.
func BenchmarkTable(b *testing.B) {
	columns := []Column{
		{Title: "STATE"}, {Title: "RUN", Min: 16}, {Title: "CONC", Right: true}, {Title: "WHERE", Flex: true},
	}
	bubblesColumns := []table.Column{
		{Title: "STATE", Width: 11}, {Title: "RUN", Width: 16}, {Title: "CONC", Width: 6}, {Title: "WHERE", Width: 150},
	}
	var rows [][]Cell
	var bubblesRows []table.Row
	for i := range 40 {
		row := []string{"✓ done", fmt.Sprint("run", i), "1010", "/a/place"}
		rows = append(rows, []Cell{{Text: row[0], Role: OK}, {Text: row[1]}, {Text: row[2]}, {Text: row[3], Role: Muted}})
		bubblesRows = append(bubblesRows, row)
	}
	b.Run("ui", func(b *testing.B) {
		th, t := NewTheme(true), Table{Columns: columns, Rows: rows}
		t.SetSize(200, 41)
		for i := 0; b.Loop(); i++ {
			t.Move(1 - i%2*2)
			_ = t.Draw(th)
		}
	})
	b.Run("bubbles", func(b *testing.B) {
		t := table.New(table.WithColumns(bubblesColumns), table.WithRows(bubblesRows),
			table.WithWidth(200), table.WithHeight(41))
		for i := 0; b.Loop(); i++ {
			t.SetCursor(i % 2)
			_ = t.View()
		}
	})
}
