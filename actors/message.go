package actors

// message is a letter to the actor of one name: an event kind and what it is
// about. Messages are linked into the mailbox through themselves and are
// embedded in what they speak of (a call, a cell), so posting one allocates
// nothing; a message is in at most one mailbox at a time.
type message struct {
	link *message
	kind eventKind

	about  *call
	tenure *tenure
	look   *inspection
}

// IgnoreDeadLetterLogging keeps owners and names out of protoactor's own log,
// which prints undelivered messages whole (actors-wheel.md section 3, row 11).
func (*message) IgnoreDeadLetterLogging() {}
