package wire

import "fmt"

// The figures in Extra of the works about memory.
const (
	BytesEach     = "bytes_each"             // heap and stacks, per lock or waiter
	StackBytes    = "stack_bytes"            // of goroutines, which HeapBytes leaves out
	Lost          = "lost"                   // locks that ended by themselves
	Subscriptions = "subscriptions_per_name" // on the server
	Connections   = "connections"            // that came with the waiters
)

// RateOfTenth is the figure in Extra that says how many names per second were used
// up in a tenth of the work, from 1 to 10.
func RateOfTenth(i int) string { return fmt.Sprintf("ops_per_s_tenth_%02d", i) }
