/* A lost wake-up: the signal comes between the test and the sleep.
 *
 * The worker looks for work and, when there is none, goes to sleep. If the boss hands over work and rings the bell
 * just after the worker has looked, nobody hears the bell, and the worker sleeps for ever: a deadlock. With -DFIXED
 * looking and falling asleep happen under one lock, as with a condition variable.
 */
// expect: violated deadlock states=13 transitions=14
// expect-with: -DFIXED holds deadlock,assert states=10 transitions=11

bool work;		/* there is something to do */
bool asleep;		/* the worker waits for the bell */
bool done;

active proctype Worker()
{
	do
	:: work -> work = false; done = true; break
#ifdef FIXED
	:: atomic { !work -> asleep = true }	/* test and sleep under the lock */
#else
	:: !work ->				/* here the bell may ring unheard */
	   asleep = true;
#endif
	   !asleep				/* sleep until woken */
	od
}

active proctype Boss()
{
	atomic { work = true; asleep = false }	/* ring: wakes the worker if it is asleep by now */
	done
}
