/* Lamport's bakery: mutual exclusion without any atomic operation but reading and writing one variable.
 *
 * A process takes a ticket one higher than all it sees, then waits until every process with a smaller ticket (or an
 * equal one and a smaller number) has left. Reading the other tickets and writing the own one are separate steps, so
 * two processes may draw the same ticket; the number breaks the tie, and `choosing` makes the others wait until a
 * ticket is drawn. Tickets grow without bound in the original; here a process that would exceed MAX waits until
 * the highest tickets are gone and starts over. So a ticket, once drawn, is served; but with three or more
 * processes nobody is sure to draw one, fair scheduling or not.
 *
 * Parameters: N processes, MAX the largest ticket.
 * Features: active [N], _pid, arrays, for, goto, labels, remote references in ltl.
 */
// expect: holds deadlock,assert states=7661 transitions=14700
// expect: holds ltl:exclusive
// expect: holds ltl:served
// expect: violated ltl:gets_ticket
// expect: holds ltl:gets_ticket fair=weak
// expect-with: -DN=3 -DMAX=1 holds deadlock,assert states=137486 transitions=398265
// expect-with: -DN=3 -DMAX=1 violated ltl:gets_ticket fair=weak
// expect-with: -DN=3 -DMAX=8 holds deadlock,assert states=2590323 transitions=7378889 size=bench
#ifndef N
#define N 2
#endif
#ifndef MAX
#define MAX 6
#endif

bool choosing[N];
byte ticket[N];		/* 0: not interested */
byte inside;		/* how many are in the critical section */

active [N] proctype Customer()
{
	byte other, highest;

idle:	choosing[_pid] = true;
	highest = 0;
	for (other : 0 .. N - 1) {
		if
		:: ticket[other] > highest -> highest = ticket[other]
		:: else
		fi
	}
	if
	:: highest < MAX ->
		ticket[_pid] = highest + 1;
		choosing[_pid] = false
	:: else ->
		choosing[_pid] = false;
		for (other : 0 .. N - 1) {
			ticket[other] < MAX
		}
		goto idle
	fi;

waiting:
	for (other : 0 .. N - 1) {
		!choosing[other];
		(ticket[other] == 0 || ticket[other] > ticket[_pid] ||
			(ticket[other] == ticket[_pid] && other >= _pid))
	}

	inside++;
critical:
	assert(inside == 1);
	inside--;
	ticket[_pid] = 0;
	goto idle
}

ltl exclusive   { [] !(Customer[0]@critical && Customer[1]@critical) }
ltl served      { [] (Customer[0]@waiting -> <> Customer[0]@critical) }
ltl gets_ticket { [] <> Customer[0]@waiting }
