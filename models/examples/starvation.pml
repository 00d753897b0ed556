/* Two clients of one server that picks whom it likes.
 *
 * Each client asks and waits for its answer. `first_served` fails: the scheduler may forget the first client altogether.
 * Under weak fairness (no process that can always go on is forgotten for ever) it still fails, because the server
 * may always take the other one's request. With -DQUEUE requests wait in one line, first come first served:
 * then it holds under weak fairness, and only under it.
 */
// expect: holds deadlock,assert states=24 transitions=47
// expect: violated ltl:first_served
// expect: violated ltl:first_served fair=weak
// expect-with: -DQUEUE violated ltl:first_served
// expect-with: -DQUEUE holds ltl:first_served fair=weak

chan line = [2] of { byte };
bool asks[2];
bool served[2];

active [2] proctype Client()
{
end:	do
	:: asks[_pid] = true;
#ifdef QUEUE
	   line ! _pid;
#endif
	   served[_pid];
	   served[_pid] = false
	od
}

active proctype Server()
{
	byte who;

end:	do
#ifdef QUEUE
	:: line ? who -> atomic { asks[who] = false; served[who] = true }
#else
	:: asks[0] -> atomic { asks[0] = false; served[0] = true }
	:: asks[1] -> atomic { asks[1] = false; served[1] = true }
#endif
	od
}

ltl first_served { [] (asks[0] -> <> served[0]) }
