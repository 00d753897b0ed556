/* Election of a leader in a ring (Chang and Roberts): a number travels on until it meets a larger one; whoever sees its own
 * number again is the leader and tells the others. Nobody sends anything twice, so that each lost message is one too many.
 *
 * faults: --faults 1 --only loss
 * broken: deadlock: loss:ring[0], loss:ring[1], loss:ring[2]
 * broken: assert: none
 * faults: --faults 1 --only pause
 * broken: deadlock: none
 * broken: assert: none
 */
mtype = { candidate, elected };

chan ring[3] = [3] of { mtype, byte };
byte leader;
byte leaders;

inline node(me, number)
{
	ring[(me + 1) % 3]!candidate,number;
	do
	:: ring[me]?candidate,other ->
		if
		:: other > number -> ring[(me + 1) % 3]!candidate,other
		:: other == number ->
			leaders++;
			leader = number;
			assert(leaders == 1);
			ring[(me + 1) % 3]!elected,number
		:: else
		fi
	:: ring[me]?elected,other ->
		assert(leader == other);
		if
		:: other != number -> ring[(me + 1) % 3]!elected,other
		:: else
		fi;
		break
	od
}

active proctype a() { byte other; node(0, 2) }
active proctype b() { byte other; node(1, 3) }
active proctype c() { byte other; node(2, 1) }
