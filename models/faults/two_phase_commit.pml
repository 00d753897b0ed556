/* Two-phase commit. A participant that stops is counted as a no; but once a participant has voted yes it has to wait for
 * the coordinator, and if that has stopped it waits for ever.
 *
 * faults: --faults 1 --only stop
 * broken: deadlock: stop:coordinator
 * broken: agreement: none
 * faults: --faults 2 --only stop
 * broken: deadlock: stop:coordinator
 * broken: agreement: none
 */
mtype = { yes, no, commit, abort };

chan votes = [2] of { mtype };
chan decision[2] = [1] of { mtype };
bool committed[2], aborted[2];

active proctype coordinator()
{
	mtype vote;
	byte votes_yes;

	do
	:: votes?vote ->
		if
		:: vote == yes -> votes_yes++
		:: else -> goto rejected
		fi;
		if
		:: votes_yes == 2 -> break
		:: else
		fi
	:: timeout -> goto rejected
	od;
	decision[0]!commit;
	decision[1]!commit;
	goto done;
rejected:
	decision[0]!abort;
	decision[1]!abort;
done:	skip
}

inline take_part(me)
{
	if
	:: votes!yes
	:: votes!no
	fi;
	if
	:: decision[me]?commit -> committed[me] = true
	:: decision[me]?abort -> aborted[me] = true
	fi
}

active proctype first()
{
	take_part(0)
}

active proctype second()
{
	take_part(1)
}

ltl agreement { [] !((committed[0] && aborted[1]) || (committed[1] && aborted[0])) }
