/* Mutual exclusion, the way everybody tries it first: look whether the other one is inside, then go in.
 *
 * Between looking and raising the own flag the other process may look, too. Both see a free room and both enter.
 * The shortest counterexample is seven steps long. Compare peterson.pml.
 */
// expect: violated assert states=36 transitions=65
// expect: violated ltl:exclusive

bool busy[2];
byte inside;

active [2] proctype Worker()
{
	do
	:: !busy[1 - _pid];		/* nobody there? */
	   busy[_pid] = true;		/* too late */
	   inside++;
critical:  assert(inside == 1);
	   inside--;
	   busy[_pid] = false
	od
}

ltl exclusive { [] !(Worker[0]@critical && Worker[1]@critical) }
