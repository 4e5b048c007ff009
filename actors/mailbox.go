package actors

import (
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// mailbox is a protoactor mailbox that runs to completion: whoever posts the
// message that finds it idle is told so, through the dispatcher, and drains it.
//
// The stock mailboxes cost a goroutine per burst, allocate per message, never
// shrink after a burst, and drop what arrives while their actor stops
// (actors-wheel.md 2.3, 2.5 and 3); this one links messages through themselves
// and belongs to actors that are stopped only when nobody can post any more.
// It has no bound of its own: calls are admitted before they are posted.
type mailbox struct {
	invoker    actor.MessageInvoker
	dispatcher actor.Dispatcher
	run        func()

	mu         sync.Mutex
	head, tail *message
	system     []any
	running    bool
}

var _ actor.Mailbox = (*mailbox)(nil)

func newMailbox() *mailbox {
	m := &mailbox{}
	m.init()
	return m
}

func (m *mailbox) init() { m.run = m.drain } // bound once: a method value allocates

// RegisterHandlers is called by protoactor's spawn, before any message.
func (m *mailbox) RegisterHandlers(invoker actor.MessageInvoker, dispatcher actor.Dispatcher) {
	m.invoker, m.dispatcher = invoker, dispatcher
}

// Start is part of protoactor's contract; there is nothing to start.
func (m *mailbox) Start() {}

// UserMessageCount is asked for only by protoactor's metrics, which are off.
func (m *mailbox) UserMessageCount() int { return 0 }

// PostUserMessage queues a message and schedules a drain if none is under way.
func (m *mailbox) PostUserMessage(msg any) {
	letter, ok := msg.(*message)
	if !ok {
		m.PostSystemMessage(msg) // PoisonPill and the like: none are ever sent
		return
	}
	m.mu.Lock()
	if m.tail == nil {
		m.head = letter
	} else {
		m.tail.link = letter
	}
	m.tail = letter
	m.schedule()
}

// PostSystemMessage queues protoactor's own messages: started, stop.
func (m *mailbox) PostSystemMessage(msg any) {
	m.mu.Lock()
	m.system = append(m.system, msg)
	m.schedule()
}

// schedule is entered with mu held and leaves it.
func (m *mailbox) schedule() {
	start := !m.running
	m.running = true
	m.mu.Unlock()
	if start {
		m.dispatcher.Schedule(m.run)
	}
}

// drain handles messages, system ones first, until there are none. A message
// posted meanwhile is handled by the same call: there is one drain at a time.
func (m *mailbox) drain() {
	for {
		m.mu.Lock()
		if len(m.system) > 0 {
			sys := m.system[0]
			if m.system = m.system[1:]; len(m.system) == 0 {
				m.system = nil
			}
			m.mu.Unlock()
			m.invoker.InvokeSystemMessage(sys)
			continue
		}
		letter := m.head
		if letter == nil {
			m.running = false
			m.mu.Unlock()
			return
		}
		m.head = letter.link
		if m.head == nil {
			m.tail = nil
		}
		letter.link = nil
		m.mu.Unlock()
		m.invoker.InvokeUserMessage(letter)
	}
}
