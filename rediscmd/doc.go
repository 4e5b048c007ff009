// Package rediscmd is holdfast's way to Redis. Whatever names rueidis, a key, a
// channel, a script or an error of the server is here; nothing here decides what
// happens to a lock.
//
// # A script's way
//
//	door          Mutex.Acquire and its siblings write what is wanted into the
//	              caller's Op, and return at once.
//	lane          Two queues per primary: what keeps or ends leases (release, hand-off,
//	              force, extend, renew) goes before what wants them (acquire, check,
//	              inspect). Each queue is first in, first out.
//	worker        Takes all that is queued, up to MaxBatch, without waiting for more,
//	              and sends it as one DoMulti under a deadline of its own. While it
//	              is away the queue grows: batches are as large as the load makes them.
//	run           One execution of a script. Acquires, and releases, with equal terms
//	              (lease, level) share runs of up to 128 locks; in a cluster each has
//	              its own.
//	completion    Every Op is completed exactly once, on the worker.
//
// A caller that waits for its own operation may carry it itself, as the lane's guest
// (guest.go), and is then the worker of that one batch.
//
// Workers of one lane run side by side, and rueidis spreads them over connections:
// two operations under way at the same time have no order. Whoever needs one waits
// for the first before submitting the second; actors have one operation in flight
// per lock name.
//
// Many locks in one run are each dealt with for themselves: one that is held, or has
// a key of another type, changes nothing for the others. If the server refuses a run
// as a whole (a name that the user may not touch), each of its locks is sent alone.
//
// A script that the server has forgotten (NOSCRIPT: restart, failover, SCRIPT FLUSH)
// is sent again with its text, by the same worker under the same deadline.
// Reply.SentAt stays the first moment, since the lease may be counted from there.
//
// # What a reply says
//
//	done       it ran: Reply.Verdict counts
//	failed     a definite no, asking again is pointless
//	retryable  nothing ran, asking again later may work
//	unknown    sent, no usable reply: it may have run, and may run yet
//
// All scripts set instead of adding, so an unknown one is settled by sending it
// again, or by Check. Acquire can then never leave a hold count of 2 behind
// (redisson #7367). With rueidis' ConnLifetime set, rueidis itself may send a
// script twice; for the same reason that does no harm.
//
// # Scripts
//
//	file     keys       arguments                          verdicts
//	acquire  lock...    lease level want-holder owner...   granted, held, absent
//	release  lock...    remaining lease publish owner...   released, lowered, absent
//	handoff  lock       from to lease yield own publish    handed over, yielded, absent
//	force    lock       publish                            released, absent
//	check    lock       owner                              held, absent
//	inspect  lock       publish                            held, absent
//	renew    lock...    lease prefix owner...              renewed, absent
//
// They have no shebang and use only commands of Redis 6.0, so any server runs them.
// Their effect on a lock is that of Redisson's scripts; keys.go has the schema. On a
// server out of memory only taking a free lock fails. If the server may run a
// script's DEL but not its PUBLISH, the lock is freed and Reply.Silent says that
// nobody was told.
//
// A user with the least rights needs, beside the keys (~<locks>) and channels
// (&redisson_*): +hello +auth +ping +script|load +evalsha +eval +subscribe
// +unsubscribe +exists +hexists +hset +hget +hdel +hscan +pexpire +pttl +del
// +publish +pubsub; in a cluster also +cluster|slots +cluster|shards +ssubscribe
// +sunsubscribe +spublish.
//
// # Subscriptions
//
// A Subscriber keeps one dedicated connection per node with listeners: made for the
// first channel, closed Linger after the last. Its goroutine goes through
//
//	parked      nobody listens             -> dialling, with the first channel
//	dialling    one attempt                -> connected, or waiting
//	connected   SUBSCRIBE in batches, each confirmation reaches the listeners;
//	            after Timeout of silence a sign of life is asked for
//	                                       -> waiting, when it ends or is silent;
//	                                          parked, when nobody listens
//	waiting     50 ms, doubling to 1 s, jittered -> dialling
//
// and a channel from idle to asked to confirmed, and back to idle with every
// connection that ends: then Subscribed is called again. A listener that looks at
// its lock at every Subscribed misses nothing for good.
//
// rueidis' Receive is not used: it subscribes again without a word, holds a
// goroutine per call, and cannot add a channel. Hooks on a dedicated connection
// work with RESP3 and RESP2; with RESP2 rueidis opens a second socket behind it and
// sends PING down the first, so the sign of life is another SUBSCRIBE.
//
// # Cluster
//
// Lanes and subscriptions go by the primary of a key's slot, from CLUSTER SLOTS. The
// map is a hint: commands travel through the cluster client, which follows MOVED. It
// is read again every 5 s and after errors that tell of a change. Redis 7 clusters
// use sharded pub/sub, as Redisson does; before that a PUBLISH reaches every node,
// but listeners can be counted only on the node asked.
//
// # Goroutines, and who closes what
//
// Workers start when they are first needed, up to Workers per lane. There is one
// goroutine per node with subscriptions, one that reads the topology of a cluster,
// and short ones that close connections. Client.Close ends all of them: first the
// lanes, when their queues are empty, then the subscriber. The rueidis client stays
// open: it belongs to whoever made it, and is to be closed after Client.Close.
// Mutexes are held briefly, never during I/O or a callback, and no
// two of one kind together; Subscriber.mu may be followed by lanes' atomic map only.
package rediscmd
