/* A run that ends while a process stands at an `accept` label stays there for ever.
 */
// expect: violated accept
// expect-with: -DGOES_ON holds accept

byte x;

active proctype P()
{
	x = 1;
#ifdef GOES_ON
accept_x: x = 2
#else
end: accept_x: x == 5
#endif
}
