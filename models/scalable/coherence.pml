/* Cache coherence: the MESI protocol on a snooping bus.
 *
 * N caches share LINES memory lines. A processor reads or writes any line at any time. On a miss its cache asks for
 * the bus by rendezvous; the bus serves one request at a time, and all caches see it in the same step: an owner of a
 * modified line writes it back, sharers stay or are invalidated. Between the processor's decision and the grant of the
 * bus another cache's request may take the line away: that is the race that such protocols get wrong. Every value
 * is a version number modulo VALUES, so that a stale read shows.
 *
 * Parameters: N caches, LINES lines, VALUES distinct values. With -DFORGETFUL a write does
 * not look again whether it still has the line after waiting for the bus: the assertions fail.
 * Features: mtype subtypes, typedef with arrays, arrays of structures, rendezvous channels and arrays of them, d_step
 * with loops and as a guard, init that runs processes, conditional expressions, end label.
 */
// expect: holds deadlock,assert states=107668 transitions=362600
// expect: violated ltl:answered
// expect: violated ltl:answered fair=weak
// expect-with: -DN=2 holds deadlock,assert states=4158 transitions=9526
// expect-with: -DN=2 -DFORGETFUL violated assert states=13502 transitions=31910
// expect-with: -DN=4 holds deadlock,assert states=2613466 transitions=11645066 size=bench
#ifndef N
#define N 3
#endif
#ifndef LINES
#define LINES 1
#endif
#ifndef VALUES
#define VALUES 2
#endif

mtype:line = { invalid, shared, exclusive, modified };
mtype:order = { read, own };		/* what a cache asks the bus for */

typedef Cache {
	mtype:line state[LINES];
	byte value[LINES]
};

Cache cache[N];
byte memory[LINES];
byte latest[LINES];		/* what a read must return */
bool wants0;			/* the first processor waits for the bus */

chan request = [0] of { byte, mtype:order, byte };	/* cache, order, line */
chan grant[N] = [0] of { bool };

#define writable(c, l)	(cache[c].state[l] == exclusive || cache[c].state[l] == modified)

/* One writer and no reader beside it, or any number of readers; and every copy is the latest value. */
inline check_line(l)
{
	for (i : 0 .. N - 1) {
		if
		:: cache[i].state[l] != invalid ->
			assert(cache[i].value[l] == latest[l]);
			copies++;
			writers = writers + writable(i, l)
		:: else
		fi
	}
	assert(writers == 0 || copies == 1);
	i = 0;
	copies = 0;
	writers = 0
}

/* What the other caches do when they see an order on the bus. */
inline snoop(l)
{
	for (i : 0 .. N - 1) {
		if
		:: i != who && cache[i].state[l] != invalid ->
			copies++;
			if
			:: cache[i].state[l] == modified -> memory[l] = cache[i].value[l]
			:: else
			fi;
			if
			:: order == own -> cache[i].state[l] = invalid; cache[i].value[l] = 0
			:: else -> cache[i].state[l] = shared
			fi
		:: else
		fi
	}
	i = 0
}

proctype Bus()
{
	byte who, l, i, copies, writers;
	mtype:order order;

end:	do
	:: request ? who, order, l ->
		d_step {
			snoop(l);
			cache[who].value[l] = memory[l];
			if
			:: order == own -> cache[who].state[l] = exclusive
			:: order == read && copies > 0 -> cache[who].state[l] = shared
			:: order == read && copies == 0 -> cache[who].state[l] = exclusive
			fi;
			copies = 0;
			check_line(l)
		}
		grant[who] ! true
	od
}

inline ask(what)
{
	wants0 = (me == 0 -> true : wants0);
	request ! me, what, l;
	grant[me] ? _;
	wants0 = (me == 0 -> false : wants0)
}

inline write()
{
	latest[l] = (latest[l] + 1) % VALUES;
	cache[me].value[l] = latest[l];
	cache[me].state[l] = modified
}

proctype Processor(byte me)
{
	byte l;

	do
	:: select (l : 0 .. LINES - 1);		/* read */
		if
		:: d_step { cache[me].state[l] != invalid -> assert(cache[me].value[l] == latest[l]) }
		:: else -> ask(read)
		fi
	:: select (l : 0 .. LINES - 1);		/* write */
again:		if
		:: d_step { writable(me, l) -> write() }
		:: !writable(me, l) ->
			ask(own);
#ifdef FORGETFUL
			d_step { write() }
#else
			goto again			/* the line may be gone already */
#endif
		fi
	:: cache[me].state[l] != invalid ->	/* evict */
		d_step {
			if
			:: cache[me].state[l] == modified -> memory[l] = cache[me].value[l]
			:: else
			fi;
			cache[me].state[l] = invalid;
			cache[me].value[l] = 0
		}
	od
}

init {
	byte i, l;
	atomic {
		for (i : 0 .. N - 1) {
			for (l : 0 .. LINES - 1) {
				cache[i].state[l] = invalid
			}
		}
		run Bus();
		for (i : 0 .. N - 1) {
			run Processor(i)
		}
	}
}

ltl answered { [] (wants0 -> <> !wants0) }
