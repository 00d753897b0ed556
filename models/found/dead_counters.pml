/* Loop counters that are left over: dead until they are set again, so that they tell no states apart. SPIN's dataflow
 * analysis makes them zero (`spin -o1` turns that off); the count here is without it.
 */
// expect: holds deadlock,assert states=16150 transitions=39501

byte turn;

active [2] proctype P()
{
	byte i, found;
	do
	:: i = 0;
	   do
	   :: i < 4 -> i++
	   :: i < 4 -> break
	   :: else -> break
	   od;
	   found = i;
	   (turn != _pid || found > 4);
	   turn = _pid
	:: turn == _pid -> turn = 1 - _pid
	od
}
