/* Peterson's mutual exclusion for two processes: say that you want to go in, then let the other one go first.
 *
 * The cure for mutex_naive.pml. Whoever waits is served (`served`). That a process goes in again and again (`returns`)
 * holds only if no process is stopped for ever (weak fairness): without it, a run in which the scheduler forgets the
 * process before it asks is a counterexample.
 */
// expect: holds deadlock,assert states=38 transitions=65
// expect: holds ltl:exclusive
// expect: holds ltl:served
// expect: violated ltl:returns
// expect: holds ltl:returns fair=weak

bool wants[2];
byte first;		/* who may go first when both want to */
byte inside;

active [2] proctype Worker()
{
	do
	:: wants[_pid] = true;
	   first = 1 - _pid;
waiting:   (!wants[1 - _pid] || first == _pid);
	   inside++;
critical:  assert(inside == 1);
	   inside--;
	   wants[_pid] = false
	od
}

ltl exclusive { [] !(Worker[0]@critical && Worker[1]@critical) }
ltl served    { [] (Worker[0]@waiting -> <> Worker[0]@critical) }
ltl returns   { [] <> Worker[0]@critical }
