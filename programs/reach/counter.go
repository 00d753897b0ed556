// Two goroutines add to a counter; with the argument `cured`, under a mutex.
package main

import (
	"os"
	"runtime"
	"sync"
)

var guard sync.Mutex
var counter int

func add(cured bool) {
	if cured {
		guard.Lock()
		defer guard.Unlock()
	}
	seen := counter
	runtime.Gosched()
	counter = seen + 1
}

func main() {
	cured := len(os.Args) > 1
	var both sync.WaitGroup
	both.Add(2)
	for i := 0; i < 2; i++ {
		go func() {
			add(cured)
			both.Done()
		}()
	}
	both.Wait()
	if counter != 2 {
		panic("an addition is lost")
	}
}
