package bank

import (
	"runtime"
	"sync"
	"testing"
)

func TestOneWay(t *testing.T) {
	var wait sync.WaitGroup
	a, b := &Account{balance: 10}, &Account{balance: 10}
	wait.Add(2)
	for i := 0; i < 2; i++ {
		go func() { Transfer(a, b, 1); wait.Done() }()
	}
	wait.Wait()
	if a.balance != 8 || b.balance != 12 {
		t.Fail()
	}
}

// Two goroutines count without a lock, and let others run in between.
func TestLost(t *testing.T) {
	var wait sync.WaitGroup
	counter := 0
	wait.Add(2)
	for i := 0; i < 2; i++ {
		go func() { seen := counter; runtime.Gosched(); counter = seen + 1; wait.Done() }()
	}
	wait.Wait()
	if counter != 2 {
		t.Fail()
	}
}
