package future

import (
	"context"
	"testing"
	"time"
)

func deadline(b *testing.B) context.Context {
	ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
	b.Cleanup(cancel)
	return ctx
}

func BenchmarkGetSettled(b *testing.B) {
	ctx, f := deadline(b), Resolved(1)
	b.ReportAllocs()
	for b.Loop() {
		f.Get(ctx)
	}
}

// One allocation: the request, with its future inside.
func BenchmarkRequestSettleGet(b *testing.B) {
	ctx := deadline(b)
	b.ReportAllocs()
	for b.Loop() {
		r := new(request)
		f := r.promise.Future()
		r.promise.Settle(r, nil)
		f.Get(ctx)
	}
}

// Two goroutines, a ctx with a deadline, and a reader that is blocked when the value comes.
func BenchmarkBlockingHandOff(b *testing.B) {
	ctx, h := deadline(b), startHandOff()
	defer close(h)
	b.ReportAllocs()
	for b.Loop() {
		if err := h.do(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOnComplete(b *testing.B) {
	b.ReportAllocs()
	ran := make(chan struct{})
	for b.Loop() {
		var p Promise[int]
		p.Future().OnComplete(func(int, error) { ran <- struct{}{} })
		p.Settle(1, nil)
		<-ran
	}
}

func BenchmarkMap(b *testing.B) {
	ctx := deadline(b)
	b.ReportAllocs()
	for b.Loop() {
		var p Promise[int]
		d := Map(p.Future(), func(v int) (int, error) { return v, nil })
		p.Settle(1, nil)
		d.Get(ctx)
	}
}

func BenchmarkAll100(b *testing.B) {
	ctx := deadline(b)
	b.ReportAllocs()
	for b.Loop() {
		ps, fs := make([]Promise[int], 100), make([]*Future[int], 100)
		for i := range ps {
			fs[i] = ps[i].Future()
		}
		for i := range ps {
			ps[i].Settle(i, nil)
		}
		if _, err := All(ctx, fs...); err != nil {
			b.Fatal(err)
		}
	}
}
