package actors

// message is a letter to the actor of one name: an event kind and what it is
// about. Messages are linked into the mailbox through themselves; calls and
// replies, which are many, are embedded in what they speak of, so that posting one
// allocates nothing. A message is in at most one mailbox at a time.
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
