/* SPIN's partial-order reduction misses an assertion about `_pid`.
 *
 * The Worker that is active from the start is process 1; the one that Starter runs is process 2 (or 1 again, if the
 * first one has ended by then), and for process 2 the assertion fails. SPIN takes the assertion of process 1 and its
 * end for steps that nobody else can notice and performs them first, so that the number 1 is always free again when
 * Starter runs. But ending does give the number back, and `run` does notice.
 */
// expect: violated assert states=11 transitions=15

active proctype Starter()
{
	run Worker()
}

active proctype Worker()
{
	assert(_pid == 1)
}
