/* Three philosophers who all reach for the right fork first.
 *
 * When each of them holds one fork, nobody can go on: an invalid end state, found without writing any property.
 * Forks are processes here, and taking one is a rendezvous with it. Compare philosophers_fixed.pml.
 */
// expect: violated deadlock states=35 transitions=76

#define N 3

chan fork[N] = [0] of { bit };	/* 1: take, 0: put back */

active [N] proctype Fork()
{
end:	do
	:: fork[_pid] ? 1 -> fork[_pid] ? 0
	od
}

active [N] proctype Philosopher()
{
	byte right = _pid - N;			/* the forks have pids 0 .. N-1 */
	byte left = (_pid - N + 1) % N;

	do
	:: fork[right] ! 1;
	   fork[left] ! 1;
	   /* eat */
	   fork[left] ! 0;
	   fork[right] ! 0
	od
}
