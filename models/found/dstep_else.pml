/* `else` as the first statement of a block in an option: executable only if no other option is, as if the block were not
 * there.
 */
// expect: holds deadlock,assert states=11 transitions=11
// expect-with: -DX=3 holds deadlock,assert states=10 transitions=10
#ifndef X
#define X 0
#endif

byte x = X;
byte taken;

active proctype P()
{
	if
	:: d_step { x == 0 -> taken = 1 }
	:: d_step { else -> taken = 2 }
	fi;
	assert((x == 0) == (taken == 1));
	if
	:: x == 0 -> taken = 3
	:: atomic { else -> taken = 4 }
	fi;
	assert((x == 0) == (taken == 3));
	if
	:: x == 0 -> taken = 5
	:: if
	   :: x == 7 -> taken = 6
	   :: d_step { atomic { else -> taken = 7 } }
	   fi
	fi;
	assert((x == 0) == (taken == 5));
	do
	:: x == 0 -> break
	:: d_step { else -> x = 0 }
	od
}
