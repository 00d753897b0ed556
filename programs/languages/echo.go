// An echo server and its clients, each connection served by a goroutine of its own.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
)

func serve(listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer connection.Close()
			lines := bufio.NewScanner(connection)
			for lines.Scan() {
				fmt.Fprintln(connection, strings.ToUpper(lines.Text()))
			}
		}()
	}
}

func ask(address string, number int, answers chan<- string) {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		answers <- err.Error()
		return
	}
	defer connection.Close()
	fmt.Fprintf(connection, "client %d\n", number)
	answer, err := bufio.NewReader(connection).ReadString('\n')
	answers <- fmt.Sprintf("%d: %s %v", number, strings.TrimSpace(answer), err)
}

func main() {
	clients, _ := strconv.Atoi(os.Args[1])
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	go serve(listener)
	answers := make(chan string, clients)
	var group sync.WaitGroup
	for number := 0; number < clients; number++ {
		group.Add(1)
		go func(number int) {
			defer group.Done()
			ask(listener.Addr().String(), number, answers)
		}(number)
	}
	group.Wait()
	close(answers)
	var lines []string
	for line := range answers {
		lines = append(lines, line)
	}
	sort.Strings(lines)
	fmt.Println(strings.Join(lines, "\n"))
	defer func() { fmt.Println("recovered:", recover()); os.Exit(4) }()
	var nothing *int
	fmt.Println(*nothing)
}
