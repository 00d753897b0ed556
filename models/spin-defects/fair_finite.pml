/* With weak fairness, SPIN misses violations on runs that end.
 *
 * Both processes end, so the last state is repeated for ever; that is a fair run, since nobody is left who could be
 * forgotten. The lamp is on in it if Off comes before On, so `goes_out` is violated. `pan -a` finds that run,
 * `pan -a -f` says that there is no error.
 */
// expect: violated ltl:goes_out
// expect: violated ltl:goes_out fair=weak spin=wrong

bool lamp;

active proctype On()
{
	lamp = true
}

active proctype Off()
{
	lamp = false
}

ltl goes_out { <> [] !lamp }
