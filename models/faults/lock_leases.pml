/* The same with leases: what is not given back in time is taken back. Now a client that stops does no harm, but one that
 * stands still for a while comes back and believes that it still holds the lock.
 *
 * faults: --faults 1 --only stop:one,stop:two
 * broken: deadlock: none
 * broken: assert: none
 * faults: --faults 1 --only pause
 * broken: deadlock: none
 * broken: assert: pause:one, pause:two
 */
#include "lock.h"

active proctype server()
{
end:	do
	:: request?_ ->
		grant!1;
		if
		:: release?_
		:: timeout		/* the lease has expired */
		fi
	:: release?_			/* too late to matter */
	od
}
