package actors

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// A name whose waiters are parked needs its work, but no actor; what happens to it
// then brings one. (Names that are held and quiet: TestTableForgetsNames.)
func TestParkedNamesHaveNoActor(t *testing.T) {
	r := newRig(t)
	const names = 50
	holds, waiters := make([]*Hold, names), make([]*Hold, names)
	for i := range holds {
		holds[i] = r.take(fmt.Sprint("lock-", i))
		waiters[i] = r.acquire(t.Context(), fmt.Sprint("lock-", i))
	}
	retired := func() bool { _, bound := r.pool.live(); return bound == 0 }
	r.eventually("the actors retire", retired)
	if st, err := r.Inspect(r.kind, "lock-0").Get(t.Context()); err != nil || st.LocalWaiters != 1 {
		t.Errorf("a parked name looks like %+v, %v", st, err)
	}
	r.eventually("the actor retires again", retired)
	for i, h := range holds {
		r.unlock(h)
		next, err := waiters[i].Await(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r.unlock(next)
	}
	r.wantEmpty()
}

// A canceled waiter brings its name to rest, and what was remembered is still
// there: the owner may come in again, others may not.
func TestRestRemembersTheHolder(t *testing.T) {
	r := newRig(t)
	h := r.take("lock")
	ctx, cancel := context.WithCancel(t.Context())
	waiter := r.acquire(ctx, "lock", watched)
	r.eventually("it waits", func() bool { return r.Counts().Waiting == 1 })
	cancel()
	r.eventually("it has left", func() bool { return r.Counts().Waiting == 0 && waiter.Granted().IsDone() })
	r.eventually("the actor retires", func() bool { _, bound := r.pool.live(); return bound == 0 })
	if again := r.take("lock", by(h.Owner())); again.Count() != 2 {
		t.Errorf("count %d, want 2", again.Count())
	} else {
		r.unlock(again)
	}
	if _, err := r.acquire(t.Context(), "lock", asTry).Await(t.Context()); err == nil {
		t.Error("somebody else got a lock that is held")
	}
	r.unlock(h)
	r.wantEmpty()
}

// An unlock goes where its name was last seen. If the name has been forgotten since,
// and its place is another's, that one must not notice.
func TestUnlockOfAForgottenName(t *testing.T) {
	r := newRig(t)
	lost := r.take("lock")
	if _, err := r.ForceUnlock(r.kind, "lock").Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.wantEmpty()
	at, k := lost.tenure.cell, lost.key
	if r.table.postAt(at, k, &message{kind: evWake}) { // a wake-up that no name wants is not delivered
		t.Error("a forgotten name got a message")
	}

	other := "" // a name that gets the place
	for i := 0; other == ""; i++ {
		name := fmt.Sprint("lock-", i)
		if sh, _ := r.table.shard(key{name, r.kind}); sh == lost.tenure.cell.shard {
			other = name
		}
	}
	held := r.take(other)
	if held.tenure.cell != at {
		t.Fatal("the place was not used again: this test shows nothing")
	}
	if r.table.postAt(at, k, &message{kind: evWake}) {
		t.Error("another name got the message of one that was there before")
	}
	if err := lost.Unlock(t.Context()); !errors.Is(err, ErrLost) {
		t.Errorf("unlock of a lost hold: %v", err)
	}
	if held.ValidFor() == 0 {
		t.Error("another name's hold has ended with it")
	}
	r.unlock(held)
	r.wantEmpty()
}
