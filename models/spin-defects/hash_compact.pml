/* SPIN's hash-compact storage (-DHC) drops states, and errors with them.
 *
 * With -DHC a state is stored as a fingerprint that should be 64 bits wide, so that losing one would take many thousand
 * searches of this size. In SPIN 6.5.2 it is a 32-bit one: states that differ are taken for the same, and what
 * follows them is never seen. Here three counters walk through all SIDE * SIDE * SIDE values, so the number of states is
 * known beforehand. With SIDE 150 the assertion fails in one of those that -DHC drops.
 */
// expect: holds deadlock,assert states=27000 transitions=81001
// expect-with: -DSIDE=150 violated assert states=3375001 transitions=10125003 size=bench

#ifndef SIDE
#define SIDE 30
#endif

byte a, b, c;

active proctype Walker()
{
end:	do
	:: a = (a + 1) % SIDE
	:: b = (b + 1) % SIDE
	:: c = (c + 1) % SIDE
	:: a == 7 && b == 13 && c == 103 -> assert(false)
	od
}
