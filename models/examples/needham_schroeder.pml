/* The Needham-Schroeder public key protocol, and the attack that took seventeen years to find (Lowe, 1995).
 *
 * Alice and Bob want to be sure that they talk to each other. {x, y}k is a message that only the owner of key k
 * can read; a nonce is a number that only its maker knows until told.
 *     1. A -> B: {nonce A, A}B      2. B -> A: {nonce A, nonce B}A      3. A -> B: {nonce B}B
 * The intruder owns the network, may take part as himself, and opens only what is encrypted for him. A protocol that stops
 * half-way is no error (the intruder may always cut the wire), so every place to wait is a valid end. The assertion
 * says: when Bob ends a session with Alice, Alice meant to talk to Bob. In the attack Alice starts an honest session
 * with the intruder, who uses her as an oracle to convince Bob. -DFIXED puts Bob's name into message 2, as Lowe did.
 */
// expect: violated assert states=29048 transitions=56087
// expect-with: -DFIXED holds deadlock,assert states=28126 transitions=54356

mtype = { alice, bob, intruder, nonce_a, nonce_b, nonce_i, none };

/* key it is encrypted for, kind of message, two or three fields */
typedef Message {
	mtype key;
	byte kind;
	mtype one, two, three
};

chan network = [0] of { Message };	/* to the intruder: he sees all traffic */
chan deliver = [0] of { mtype, Message };	/* from him to whom he likes */

mtype alice_partner = none;		/* whom Alice talks to */
bool knows_a, knows_b;			/* nonces that the intruder has learnt */

inline clear(m)
{
	m.key = 0; m.kind = 0; m.one = 0; m.two = 0; m.three = 0
}

inline send(m, k, what, x, y, z)
{
	d_step { m.key = k; m.kind = what; m.one = x; m.two = y; m.three = z }
	network ! m;
	d_step { clear(m) }
}

active proctype Alice()
{
	Message m;
	mtype partner;

	if
	:: partner = bob
	:: partner = intruder
	fi;
	alice_partner = partner;
	send(m, partner, 1, nonce_a, alice, none);
end_wait:
	deliver ? alice, m;
end_doubt:
#ifdef FIXED
	(m.key == alice && m.kind == 2 && m.one == nonce_a && m.three == partner);
#else
	(m.key == alice && m.kind == 2 && m.one == nonce_a);
#endif
	send(m, partner, 3, m.two, none, none)
}

active proctype Bob()
{
	Message m;
	mtype partner, nonce;

end_wait1:
	deliver ? bob, m;
end_doubt1:
	(m.key == bob && m.kind == 1);
	d_step { nonce = m.one; partner = m.two }
	send(m, partner, 2, nonce, nonce_b, bob);
end_wait3:
	deliver ? bob, m;
end_doubt3:
	(m.key == bob && m.kind == 3 && m.one == nonce_b);
	/* Bob is convinced now: */
	assert(partner != alice || alice_partner == bob)
}

/* A nonce that the intruder can put into a message of his own. */
inline pick(nonce)
{
	if
	:: nonce = nonce_i
	:: knows_a -> nonce = nonce_a
	:: knows_b -> nonce = nonce_b
	fi
}

inline learn(nonce)
{
	knows_a = knows_a || nonce == nonce_a;
	knows_b = knows_b || nonce == nonce_b
}

inline compose(k, what, x, y, z)
{
	draft.key = k; draft.kind = what; draft.one = x; draft.two = y; draft.three = z
}

active proctype Intruder()
{
	Message seen;
	Message kept;		/* one that he could not open but may send on */
	Message draft;		/* one of his own */
	mtype x, y;

end:	do
	:: network ? seen ->
		d_step {
			if
			:: seen.key == intruder -> learn(seen.one); learn(seen.two)
			:: else ->
				kept.key = seen.key; kept.kind = seen.kind;
				kept.one = seen.one; kept.two = seen.two; kept.three = seen.three
			fi;
			clear(seen)
		}
	:: deliver ! kept.key, kept
	:: deliver ! draft.key, draft -> d_step { clear(draft) }
	:: draft.key == 0 ->
		atomic {
			pick(x);
			if
			:: compose(bob, 1, x, alice, none)	/* pretending to be Alice */
			:: compose(bob, 1, x, intruder, none)	/* as himself */
			:: pick(y); compose(alice, 2, x, y, intruder)
			:: compose(bob, 3, x, none, none)
			fi;
			x = 0; y = 0
		}
	od
}
