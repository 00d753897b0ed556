/* A deadlock at once, and much later an assertion that fails: whoever stops after the first must not say that the second
 * holds. With the sizes as they are there are 2.1 million states, in everyday tests fewer.
 */
// expect-with: -DN=31 -DLA=31 violated deadlock,assert states=32770 transitions=95236
// expect-with: -DN=31 -DLA=99 violated deadlock states=32770 transitions=95235
// expect-with: -DLA=127 violated deadlock,assert states=2097154 transitions=6242308 size=bench
#ifndef N
#define N 127
#endif

byte a, b, c;

active proctype P()
{
	if
	:: true -> false
	:: true
	fi;
	do
	:: atomic { a < N -> a++ }
	:: atomic { b < N -> b++ }
	:: atomic { c < N -> c++ }
	:: atomic { a == LA && b == N/2 && c == N/2 -> assert(false) }
	od
}
