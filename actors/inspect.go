package actors

import (
	"time"

	"github.com/holdfast-go/holdfast/future"
	"github.com/holdfast-go/holdfast/rediscmd"
)

// State is what a lock looks like on the server, and who waits for it here.
type State struct {
	Locked        bool
	Owner         Owner         // the holder on the server; zero if nobody or not of the form uuid:number
	Foreign       bool          // the holder is not of this runtime
	Count         int           // the holder's count
	TTL           time.Duration // what is left of the lease; -1: the key has no TTL
	Token         int64         // the last fencing token, for fenced locks
	LocalWaiters  int           // acquires of this runtime that wait (not those for which 1024 commands under way leave no room yet)
	RemoteWaiters int           // other runtimes and Redisson clients that listen for the unlock (not exact: a listener may linger)
}

// inspection is one look at a lock: the local half is taken by the name's actor,
// the other by a script.
type inspection struct {
	call
	task    duty
	sys     *System
	key     key
	op      rediscmd.Op
	local   int
	promise future.Promise[State]
}

// Inspect asks for the state of a name. It changes nothing and waits for nobody.
func (s *System) Inspect(k *Kind, name string) *future.Future[State] {
	i := &inspection{call: call{kind: callInspect}, sys: s, key: key{name, k}}
	i.duty, i.task.after = &i.task, i
	i.message = message{kind: evInspect, about: &i.call}
	if !s.table.post(i.key, &i.message) {
		i.promise.Settle(State{}, ErrClosed)
	}
	return i.promise.Future()
}

// ask runs on the actor.
func (i *inspection) ask(c *cell) {
	i.local = c.work.state.waiting()
	if c.work.state.closing {
		i.promise.Settle(State{}, ErrClosed)
		return
	}
	i.key.kind.Door.Inspect(&i.op, i, i.key.name)
}

// settle implements settler: there is nothing to see.
func (i *inspection) settle(_ bool, err error, _ time.Duration) { i.promise.Settle(State{}, err) }

// Completed implements rediscmd.Completer.
func (i *inspection) Completed(*rediscmd.Op) {
	r := &i.op.Reply
	if r.Outcome != rediscmd.OutcomeDone {
		i.promise.Settle(State{}, failed("inspect", &answer{outcome: r.Outcome, err: r.Err}))
		return
	}
	st := State{LocalWaiters: i.local, TTL: r.TTL}
	if r.Verdict == rediscmd.Held {
		st.Locked, st.Count = true, int(r.Count)
		st.Owner, _ = ParseOwner(r.Owner)
		st.Foreign = st.Owner.Runtime() != i.sys.id
	}
	own := int64(0)
	if i.sys.redis.Subscriber().Confirmed(i.key.kind.Door.Channel(i.key.name)) {
		own = 1
	}
	st.RemoteWaiters = int(max(0, r.Listeners-own))
	i.promise.Settle(st, nil)
}
