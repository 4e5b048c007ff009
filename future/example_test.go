package future_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/future"
)

func ExampleFuture_Get() {
	f, settle := future.New[string]()
	hurried, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()

	_, err := f.Get(hurried) // ends this wait, not the work
	fmt.Println(errors.Is(err, context.DeadlineExceeded), f.IsDone())

	settle("ready", nil)
	v, err := f.Get(hurried) // what is there beats a ctx that is done
	fmt.Println(v, err)
	// Output:
	// true false
	// ready <nil>
}

func ExampleFuture_Cancel() {
	f, settle := future.New[int]()
	fmt.Println("canceled:", f.Cancel(errors.New("nobody waits any more")))
	fmt.Println("settled:", settle(1, nil))

	_, err := f.Get(context.Background())
	fmt.Println(err)
	// Output:
	// canceled: true
	// settled: false
	// future: canceled: nobody waits any more
}

func ExampleMap() {
	words := future.Resolved("hold fast")
	loud := future.Map(words, func(s string) (string, error) { return strings.ToUpper(s), nil })
	fmt.Println(loud.Get(context.Background()))
	// Output: HOLD FAST <nil>
}

func ExampleAll() {
	ctx := context.Background()
	square := func(n int) *future.Future[int] {
		return future.Go(ctx, func(context.Context) (int, error) { return n * n, nil })
	}
	fmt.Println(future.All(ctx, square(2), square(3), square(4)))

	slow, _ := future.New[int]()
	_, err := future.All(ctx, slow, future.Failed[int](errors.New("no luck")))
	fmt.Println(err)
	_, err = slow.Get(ctx) // its sibling failed, so All has canceled it
	fmt.Println(err)
	// Output:
	// [4 9 16] <nil>
	// no luck
	// future: canceled: no luck
}

func ExampleCompleted() {
	ctx := context.Background()
	a, settleA := future.New[string]()
	b, settleB := future.New[string]()
	c, _ := future.New[string]()
	settleB("first", nil)
	for i, f := range future.Completed(ctx, a, b, c) {
		v, _, _ := f.TryGet()
		fmt.Println(i, v)
		if v == "second" {
			break // cancels nothing: c goes on
		}
		settleA("second", nil)
	}
	fmt.Println(c.IsDone())
	// Output:
	// 1 first
	// 0 second
	// false
}
