/* One producer, two consumers, and an `if` where a `while` was needed.
 *
 * A consumer that finds the buffer empty sleeps until it is woken, and then takes an item without looking again.
 * Meanwhile the other consumer may have taken it: it takes an item that is not there. -DFIXED looks again after
 * waking up, which is why the manuals say to wait for a condition variable in a loop.
 */
// expect: violated assert states=218 transitions=355
// expect-with: -DFIXED holds deadlock,assert states=212 transitions=349

#define SIZE 2

byte items;		/* in the buffer */
bool locked;		/* the monitor's lock */
byte sleepers;		/* consumers that wait for a signal */
byte signals;		/* sent to sleepers that have not run yet */

inline lock()   { atomic { !locked -> locked = true } }
inline unlock() { locked = false }

/* Gives the lock back while asleep, takes it again afterwards. */
inline sleep()
{
	atomic { sleepers++; locked = false }
	atomic { signals > 0 -> signals--; sleepers-- }
	lock()
}

active proctype Producer()
{
end:	do
	:: lock();
	   if
	   :: items < SIZE -> items++
	   :: else
	   fi;
	   if
	   :: signals < sleepers -> signals++
	   :: else
	   fi;
	   unlock()
	od
}

active [2] proctype Consumer()
{
end:	do
	:: lock();
#ifdef FIXED
	   do
	   :: items == 0 -> sleep()
	   :: else -> break
	   od;
#else
	   if
	   :: items == 0 -> sleep()
	   :: else
	   fi;
#endif
	   assert(items > 0);
	   items = (items > 0 -> items - 1 : 0);	/* an underflow would only hide the first error */
	   unlock()
	od
}
