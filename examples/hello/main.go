package main

import (
	"context"
	"log"

	"github.com/holdfast-go/holdfast"
)

func main() {
	ctx := context.Background()
	rt, err := holdfast.Open("redis://127.0.0.1:6379")
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Close(ctx)
	err = rt.Lock("order:42").Do(ctx, func(ctx context.Context) error {
		log.Println("nobody else has order:42") // ctx is cancelled with cause ErrLost when that may end
		return nil
	})
	log.Println("done:", err)
}
