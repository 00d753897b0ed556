/* Stop and wait without a sequence number: what arrives twice is delivered twice.
 *
 * faults: --faults 1 --only loss,duplicate
 * broken: deadlock: none
 * broken: assert: duplicate:data, loss:acks
 */
#ifndef MAX
#define MAX 2	/* messages; at most 200 */
#endif

chan data = [2] of { byte };
chan acks = [2] of { bit };

active proctype sender()
{
	byte content = 1;

	do
	:: content <= MAX ->
		data!content;
		do
		:: acks?1 -> break
		:: timeout -> data!content
		od;
		content++
	:: else -> break
	od
}

active proctype receiver()
{
	byte content, expected = 1;

end:	do
	:: data?content ->
		assert(content == expected);
		expected++;
		acks!1
	od
}
