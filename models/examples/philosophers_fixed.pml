/* Three philosophers who take the fork with the smaller number first.
 *
 * With one order for all resources there is no circle of waiting, so there is no deadlock. The only difference from
 * philosophers_deadlock.pml is in the two lines that choose `first` and `second`.
 */
// expect: holds deadlock,assert states=51 transitions=92
// expect: holds ltl:someone_eats

#define N 3

chan fork[N] = [0] of { bit };	/* 1: take, 0: put back */
byte eating;

active [N] proctype Fork()
{
end:	do
	:: fork[_pid] ? 1 -> fork[_pid] ? 0
	od
}

active [N] proctype Philosopher()
{
	byte first = (_pid == 2 * N - 1 -> 0 : _pid - N);
	byte second = (_pid == 2 * N - 1 -> N - 1 : _pid - N + 1);

	do
	:: fork[first] ! 1;
	   fork[second] ! 1;
	   eating++;
	   assert(eating == 1);			/* three forks feed one at a time */
	   eating--;
	   fork[second] ! 0;
	   fork[first] ! 0
	od
}

ltl someone_eats { [] <> (eating > 0) }
