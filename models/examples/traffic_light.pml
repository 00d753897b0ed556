/* A pedestrian crossing with a button.
 *
 * `safe` says that cars and pedestrians never have green together: a safety property, and it holds. `served` says that
 * whoever presses the button gets green some time: a liveness property, and it fails: the cars' light may
 * go round for ever and never look at the button. Not even fair scheduling helps, because it is the light's own choice.
 * With -DFIXED the light serves the button whenever it is pressed, and `served` holds.
 */
// expect: holds deadlock,assert states=21 transitions=37
// expect: holds ltl:safe
// expect: violated ltl:served
// expect: violated ltl:served fair=weak
// expect-with: -DFIXED holds ltl:served

mtype = { red, amber, green };

mtype cars = green;
mtype walkers = red;
bool pressed;

active proctype Light()
{
	do
	:: cars == green ->
		cars = amber;
		cars = red;
		if
#ifdef FIXED
		:: pressed ->
			walkers = green; pressed = false; walkers = red
		:: !pressed
#else
		:: walkers = green; pressed = false; walkers = red
		:: skip				/* nobody there, surely */
#endif
		fi;
		cars = green
	od
}

active proctype Pedestrian()
{
end:	do
	:: !pressed && walkers == red -> pressed = true
	od
}

ltl safe   { [] !(cars != red && walkers == green) }
ltl served { [] (pressed -> <> (walkers == green)) }
