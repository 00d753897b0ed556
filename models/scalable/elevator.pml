/* An elevator that serves the calls of its passengers.
 *
 * PEOPLE passengers start anywhere among FLOORS floors. A passenger presses the button, waits until the cabin
 * stands there with its door open, gets in (at most ROOM at a time), presses a button inside, and gets out at
 * that floor; then the day goes on from there. The controller is a collective one: the cabin goes on in its direction
 * while there are calls ahead, turns round when there are only calls behind, and opens at every floor that was called.
 * Door and motor are devices that answer by rendezvous.
 *
 * Parameters: FLOORS (at least 2), PEOPLE, ROOM.
 * Features: mtype commands in variables, rendezvous handshakes, a buffered channel as a bag (?? eval), nfull, select,
 * inline with d_step, active processes beside run, goto out of atomic, short, end labels.
 */
// expect: holds deadlock,assert states=108287 transitions=294758
// expect: holds ltl:door_shut
// expect: violated ltl:picked_up
// expect: violated ltl:picked_up fair=weak
// expect-with: -DFLOORS=3 holds deadlock,assert states=444918 transitions=1201777
// expect-with: -DFLOORS=5 holds deadlock,assert states=2626422 transitions=7078001 size=bench
#ifndef FLOORS
#define FLOORS 2
#endif
#ifndef PEOPLE
#define PEOPLE 2
#endif
#ifndef ROOM
#define ROOM 1
#endif

mtype = { up, down, open, close, done };

chan motor = [0] of { mtype };
chan door  = [0] of { mtype };
chan entry = [ROOM] of { byte };	/* who is in the cabin */

bool called[FLOORS];		/* a button is lit, inside or outside */
byte cabin;			/* the floor where the cabin is */
bool is_open;
bool is_moving;
bool waits0, rides0;		/* the first passenger's day */

active proctype Door()
{
end:	do
	:: door ? open -> is_open = true; door ! done
	:: door ? close -> is_open = false; door ! done
	od
}

active proctype Motor()
{
end:	do
	:: motor ? up ->
		is_moving = true;
		assert(!is_open && cabin < FLOORS - 1);
		cabin++;
		is_moving = false;
		motor ! done
	:: motor ? down ->
		is_moving = true;
		assert(!is_open && cabin > 0);
		cabin--;
		is_moving = false;
		motor ! done
	od
}

/* Is there a call at a floor from..to? */
inline look(from, to)
{
	d_step {
		found = false;
		i = from;
		do
		:: i <= to -> found = found || called[i]; i++
		:: else -> break
		od;
		i = 0
	}
}

active proctype Controller()
{
	mtype direction = up;
	bool found;
	short i;

end:	do
	:: called[cabin] ->
		door ! open;
		door ? done;
		called[cabin] = false;		/* people may press again while the door is open */
		door ! close;
		door ? done
	:: !called[cabin] ->
		if
		:: direction == up -> look(cabin + 1, FLOORS - 1)
		:: direction == down -> look(0, cabin - 1)
		fi;
		if
		:: found -> motor ! direction; motor ? done
		:: !found ->
			look(0, FLOORS - 1);
			if
			:: found -> direction = (direction == up -> down : up)
			:: else		/* nothing to do: look again */
			fi
		fi
	od
}

proctype Passenger(byte me)
{
	byte here, there;

	select (here : 0 .. FLOORS - 1);
	do
	:: waits0 = (me == 0 -> true : waits0);
outside:	called[here] = true;
		if
		:: atomic { cabin == here && is_open && nfull(entry) -> entry ! me }
		:: atomic { cabin == here && !is_open && !called[here] -> goto outside }	/* missed it: press again */
		fi;
		d_step {
			waits0 = (me == 0 -> false : waits0);
			rides0 = (me == 0 -> true : rides0)
		}
		select (there : 0 .. FLOORS - 1);
inside:		called[there] = true;
		if
		:: atomic { cabin == there && is_open -> entry ?? eval(me) }
		:: atomic { cabin == there && !is_open && !called[there] -> goto inside }
		fi;
		rides0 = (me == 0 -> false : rides0);
		here = there
	od
}

init {
	byte i;
	atomic {
		for (i : 0 .. PEOPLE - 1) {
			run Passenger(i)
		}
	}
}

ltl door_shut   { [] (is_moving -> !is_open) }
ltl picked_up   { [] (waits0 -> <> rides0) }
