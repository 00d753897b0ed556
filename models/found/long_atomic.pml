/* Steps of ten thousand statements: limits are kept inside them, and they take no longer than in SPIN's verifier.
 */
// expect: holds deadlock,assert states=400 transitions=3601
#ifndef N
#define N 100
#endif

byte a[N];
byte x;

active [4] proctype P()
{
	do
	:: x = (x + 1) % 200
	:: x = (x + 7) % 200
	od
}

active proctype C()
{
	int i, j;
	do
	:: atomic {
		for (i : 0 .. N-1) {
			for (j : i .. N-1) {
				if
				:: i != j -> assert(!a[i] || !a[j])
				:: else -> skip
				fi
			}
		}
	   }
	od
}
