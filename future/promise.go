package future

// Promise is the producer's side of a [Future], which it contains: embed it by value in the struct that describes the
// work. The zero Promise is ready for use; it must not be copied. All methods but Init are safe for concurrent use.
type Promise[T any] struct{ f Future[T] }

// Keeper is how the producer of a resource follows what becomes of it: of each success value it learns that somebody
// has it, or that it must be taken back.
//
// The methods are called with no lock held, on the goroutine that caused them (a reader's, a canceler's, or one that
// runs callbacks; never from inside Settle), each at most once per future. They may use the future. They must not
// block.
type Keeper[T any] interface {
	// Claimed: the first reader has taken the success value v. It is called before that reader gets v; a second
	// reader at the same moment may have it slightly earlier.
	Claimed(v T)

	// Canceled: a Cancel with this cause (never nil) decided the outcome. If settled is true, v is a success value
	// that nobody has taken and that must be given back; otherwise v is the zero value, and a later Settle will
	// report false. It is called before readers that are blocked in Get wake up.
	Canceled(cause error, v T, settled bool)

	// Discarded: after Claimed, it turned out that v could not be delivered, or that nobody took what [Map] made of
	// it. Nobody else will give it back.
	Discarded(v T)
}

// New returns a future and the function that settles it, which is [Promise.Settle].
func New[T any]() (*Future[T], func(T, error) bool) {
	p := new(Promise[T])
	return p.Future(), p.Settle
}

// Resolved returns a future that is settled with v. Like every success value, v can be canceled until it is taken.
func Resolved[T any](v T) *Future[T] {
	f := &Future[T]{val: v}
	f.state.Store(ready)
	return f
}

// Failed returns a future that is settled with err. It panics if err is nil: that would be a success with no value.
func Failed[T any](err error) *Future[T] {
	if err == nil {
		panic("future: Failed(nil)")
	}
	f := &Future[T]{rare: &rare{err: err}}
	f.state.Store(failed)
	return f
}

// Init sets who is told what becomes of the value; k may be nil, and without Init nobody is told. It must be called
// before the future is shown to anybody, at most once.
func (p *Promise[T]) Init(k Keeper[T]) { p.f.keeper = k }

// Future returns the read side, always the same.
func (p *Promise[T]) Future() *Future[T] { return &p.f }

// Settle gives the future its outcome; the first outcome wins. If err is nil, v is a success value: it is there for
// the first reader to take. Otherwise readers see err (and v with it), and no claim is needed.
//
// It returns false if the future was settled or canceled before: the producer still owns v and has to dispose of it.
// Settle never blocks and runs no code of others; it costs O(blocked readers).
func (p *Promise[T]) Settle(v T, err error) bool { return p.f.settle(v, err) }

// Claimed tells whether a success value has been taken by somebody.
func (p *Promise[T]) Claimed() bool { return p.f.state.Load() == claimed }
