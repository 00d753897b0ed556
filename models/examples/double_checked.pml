/* Double-checked locking: make an object once, and do not take the lock afterwards.
 *
 * The fast path reads the pointer without the lock. The pointer is published before the object behind it is
 * filled in, so another thread may see the pointer and use an object that is not ready. -DFIXED fills in first
 * and publishes last. (In a language with a weak memory model the two writes must also be kept in order.)
 */
// expect: violated assert states=56 transitions=87
// expect-with: -DFIXED holds deadlock,assert states=51 transitions=79
// expect-with: -DFIXED holds ltl:made_once

bool published;		/* the pointer is not null */
bool ready;		/* the object behind it is filled in */
bool locked;
byte made;		/* how many objects were made */

inline make()
{
	made++;
#ifdef FIXED
	ready = true;
	published = true
#else
	published = true;
	ready = true
#endif
}

active [2] proctype Thread()
{
	if
	:: published				/* fast path: no lock */
	:: !published ->
		atomic { !locked -> locked = true }
		if
		:: !published -> make()		/* second check, under the lock */
		:: else
		fi;
		locked = false
	fi;
	assert(ready)				/* use it */
}

ltl made_once { [] (made <= 1) }
