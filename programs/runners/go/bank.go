// Package bank has accounts: for allways as runner of go test, docs/runners.md.
package bank

import "sync"

// Account is an amount under a lock.
type Account struct {
	mu      sync.Mutex
	balance int
}

// Transfer locks the payer first.
func Transfer(from, to *Account, amount int) {
	from.mu.Lock()
	defer from.mu.Unlock()
	to.mu.Lock()
	defer to.mu.Unlock()
	from.balance -= amount
	to.balance += amount
}
