package actors

// message is a letter to the actor of one name: what happened, and to which call.
// Messages are linked into the mailbox through themselves; calls and replies,
// which are many, are embedded in what they speak of, so that posting one
// allocates nothing. A message is in at most one mailbox at a time.
type message struct {
	link  *message
	about *call // of a lease's end: the tenure's first level
	kind  eventKind
}

// IgnoreDeadLetterLogging keeps owners and names out of protoactor's own log,
// which prints undelivered messages whole (actors-wheel.md section 3, row 11).
func (*message) IgnoreDeadLetterLogging() {}
