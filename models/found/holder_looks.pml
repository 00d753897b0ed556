/* Whoever alone may send can ask whether there is room: nobody else can take it away. The same for whoever alone may receive.
 */
// expect: holds deadlock,assert states=7 transitions=7

chan c = [2] of { byte };

active proctype P()
{
	xs c;
	nfull(c) -> c!1
}

active proctype Q()
{
	byte x;
	xr c;
	nempty(c) -> c?x
}
