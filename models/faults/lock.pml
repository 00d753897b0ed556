/* A lock server without leases: a client that stops while it holds the lock keeps everybody out for good. Standing
 * still for a while does no harm.
 *
 * faults: --faults 1 --only stop:one,stop:two
 * broken: deadlock: stop:one, stop:two
 * broken: assert: none
 * faults: --faults 1 --only pause
 * broken: deadlock: none
 * broken: assert: none
 */
#include "lock.h"

active proctype server()
{
end:	do
	:: request?_ ->
		grant!1;
		release?_
	od
}
