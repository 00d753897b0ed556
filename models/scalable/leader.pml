/* Leader election in a one-way ring (Chang and Roberts).
 *
 * N nodes with distinct identities sit in a ring of buffered channels, each of which knows only its successor. A node
 * sends its identity round the ring; a node passes on identities larger than its own and swallows smaller ones, so
 * only the largest comes back home: its owner is the leader and tells the others. Identities are dealt out in every
 * order, and a node wakes up on its own or when the first message reaches it.
 *
 * Parameter: N, the number of nodes (at least 2).
 * Features: run with parameters, arrays of channels, mtype messages, atomic, inline, for, select, processes that end.
 */
// expect: holds deadlock,assert states=41666 transitions=113373
// expect: holds ltl:one_leader
// expect: holds ltl:all_learn
// expect-with: -DN=3 holds deadlock,assert states=1693 transitions=3446
// expect-with: -DN=5 holds deadlock,assert states=1334972 transitions=4541636 size=bench
#ifndef N
#define N 4
#endif

mtype = { candidate, elected };

chan ring[N] = [N] of { mtype, byte };	/* ring[i] leads into node i */
byte leaders;				/* how many nodes think that they lead */
byte informed;				/* how many nodes know the leader's identity */

inline pass_on(kind, number)
{
	ring[(place + 1) % N] ! kind(number)
}

proctype Node(byte place; byte id)
{
	byte other;
	bool awake;

	do
	:: !awake ->
		awake = true;
		pass_on(candidate, id)
	:: ring[place] ? candidate(other) ->
		if
		:: other > id ->
			awake = true;		/* too late to stand for election */
			pass_on(candidate, other)
		:: other < id && !awake ->
			awake = true;
			pass_on(candidate, id)
		:: other < id && awake		/* swallowed */
		:: other == id ->
			leaders++;
			assert(leaders == 1);
			assert(id == N);	/* the largest identity wins */
			pass_on(elected, id)
		fi
	:: ring[place] ? elected(other) ->
		informed++;
		if
		:: other != id -> pass_on(elected, other)
		:: else
		fi;
		break
	od
}

init {
	byte order[N];	/* identities in ring order */
	byte i, j;
	atomic {
		/* Any permutation of 1..N: each identity goes to the first free place from anywhere on. */
		for (i : 1 .. N) {
			select (j : 0 .. N - 1);
			do
			:: order[j] == 0 -> break
			:: else -> j = (j + 1) % N
			od;
			order[j] = i
		}
		for (i : 0 .. N - 1) {
			run Node(i, order[i])
		}
	}
}

ltl one_leader  { [] (leaders <= 1) }
ltl all_learn   { <> (informed == N) }
