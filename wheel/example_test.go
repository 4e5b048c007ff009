package wheel_test

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/wheel"
)

// session is something that expires; its deadline is part of it.
type session struct {
	name   string
	expiry wheel.Entry[*session]
}

func Example() {
	expired := make(chan string)
	w, err := wheel.New(wheel.Config[*session]{
		Handler: func(due []*wheel.Entry[*session]) {
			names := make([]string, 0, len(due))
			for _, e := range due {
				names = append(names, e.Value.name)
			}
			go func() { // Handler must not block
				for _, name := range names {
					expired <- name
				}
			}()
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Stop(context.Background())

	for _, name := range []string{"anna", "ben", "carla"} {
		s := &session{name: name}
		s.expiry.Value = s
		if err := w.Schedule(&s.expiry, 50*time.Millisecond); err != nil {
			fmt.Println(err)
		}
		if name == "ben" {
			fmt.Println("ben signs out:", w.Cancel(&s.expiry))
		}
	}
	fmt.Println("expired:", <-expired)
	fmt.Println("expired:", <-expired)
	// Output:
	// ben signs out: true
	// expired: anna
	// expired: carla
}
