/* The alternating bit protocol. A message that is lost is sent again, one that arrives twice is known by its bit.
 * Nothing protects the bit itself, and a message that overtakes another is taken for the other's successor.
 *
 * faults: --faults 1 --only loss,duplicate
 * broken: deadlock: none
 * broken: assert: none
 * faults: --faults 1 --only corrupt
 * broken: deadlock: none
 * broken: assert: corrupt:data
 */
#ifndef MAX
#define MAX 3	/* messages; at most 200 */
#endif

chan data = [2] of { byte, bit };	/* content, sequence bit */
chan acks = [2] of { bit };

active proctype sender()
{
	byte content = 1;
	bit turn, got;

	do
	:: content <= MAX ->
		data!content,turn;
		do
		:: acks?got ->
			if
			:: got == turn -> break
			:: else
			fi
		:: timeout -> data!content,turn
		od;
		content++;
		turn = 1 - turn
	:: else -> break
	od
}

active proctype receiver()
{
	byte content, expected = 1;
	bit turn, got;

end:	do
	:: data?content,got ->
		if
		:: got == turn ->
			assert(content == expected);
			expected++;
			turn = 1 - turn
		:: else
		fi;
		acks!got
	od
}
