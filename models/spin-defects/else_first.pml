/* `else` in a block that is not the last option: SPIN's verifier takes it although another option is executable.
 *
 * SPIN moves an option that begins with `else` behind the others; it does not look into blocks.
 */
// expect: holds deadlock,assert spin=wrong
// expect-with: -DATOMIC holds deadlock,assert spin=wrong
// expect-with: -DPLAIN holds deadlock,assert spin=wrong

#if defined(ATOMIC)
#define BLOCK atomic
#elif defined(PLAIN)
#define BLOCK
#else
#define BLOCK d_step
#endif

byte x;

active proctype P()
{
	if
	:: BLOCK { else -> assert(false) }
	:: x == 0 -> x = 1
	fi
}
