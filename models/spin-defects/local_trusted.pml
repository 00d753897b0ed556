/* SPIN believes the word `local` in front of a global variable, even with all reductions off.
 *
 * `local` promises that only one process uses the variable. Here two do, so the assertion can fail. SPIN merges the
 * assignment and the assertion of A into one step on the strength of the promise, and neither checks nor mentions it.
 */
// expect: violated assert states=15 transitions=19

local byte x;

active proctype A()
{
	x = 1;
	assert(x == 1)
}

active proctype B()
{
	x = 2
}
