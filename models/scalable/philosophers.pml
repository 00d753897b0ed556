/* Dining philosophers.
 *
 * N philosophers sit round a table with a fork between any two neighbours and need both to eat. All take the fork on
 * their right first but the last one, who takes the left one first: that breaks the circle of waiting, so nobody
 * deadlocks. Nobody is safe from starving, though: a neighbour may grab the fork again and again, and weak
 * fairness does not help, since the fork is free only now and then.
 *
 * Parameter: N, the number of philosophers (at least 2). With -DNAIVE all take the right fork first: they deadlock.
 * Features: typedef, array of structures, active [N], _pid, inline, macros, atomic test-and-set, d_step.
 */
// expect: holds deadlock,assert states=20882 transitions=90338
// expect: holds ltl:apart
// expect: violated ltl:fed
// expect: violated ltl:fed fair=weak
// expect: holds ltl:someone
// expect-with: -DNAIVE violated deadlock states=7244 transitions=29036
// expect-with: -DN=7 holds deadlock,assert states=1025066 transitions=6192924 size=bench
#ifndef N
#define N 5
#endif

#define LEFT  ((_pid + 1) % N)
#define RIGHT (_pid)

typedef Fork {
	bool taken;
	byte owner
};

Fork fork[N];
bool eating[N];
byte diners;	/* how many are eating */
bool hungry0;	/* the first philosopher is waiting for a meal */

inline take(which)
{
	atomic { !fork[which].taken -> fork[which].taken = true; fork[which].owner = _pid }
}

inline put_back(which)
{
	d_step { assert(fork[which].owner == _pid); fork[which].taken = false; fork[which].owner = 0 }
}

active [N] proctype Philosopher()
{
	do
	:: if
	   :: _pid == 0 -> hungry0 = true
	   :: else
	   fi;
#ifdef NAIVE
	   take(RIGHT); take(LEFT);
#else
	   if
	   :: _pid == N - 1 -> take(LEFT); take(RIGHT)
	   :: else -> take(RIGHT); take(LEFT)
	   fi;
#endif
	   d_step { eating[_pid] = true; diners++ };
	   assert(!eating[(_pid + 1) % N] && !eating[(_pid + N - 1) % N]);
	   d_step { eating[_pid] = false; diners-- };
	   if
	   :: _pid == 0 -> hungry0 = false
	   :: else
	   fi;
	   put_back(RIGHT);
	   put_back(LEFT)
	od
}

ltl apart   { [] !(eating[0] && eating[1]) }
ltl fed     { [] (hungry0 -> <> eating[0]) }
ltl someone { [] <> (diners > 0) }
