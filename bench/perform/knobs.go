package perform

// What sweeps on two cores left of the ways to drive a system; each can be changed
// by a knob of the job.
const (
	// floorLoops is how many loops of batches run side by side. Thousands of
	// pairs/s with 1, 2, 3, 4, 6, 8: 103, 156, 158, 150, 169, 170.
	floorLoops = 8

	// asyncReaders is how many goroutines go round holdfast's futures. Thousands
	// of pairs/s with 1: 165, 2: 155, 4: 136, 8: 135; with a callback for each
	// future instead, which costs a goroutine each: 96.
	asyncReaders = 1
)
