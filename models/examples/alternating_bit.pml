/* The alternating bit protocol, with a receiver that trusts too much.
 *
 * Messages and acknowledgements may be lost, so the sender repeats a message until it is acknowledged, with one bit
 * to tell a repetition from a new message. This receiver acknowledges a repetition (right) but also delivers it
 * (wrong): when an acknowledgement is lost, the user gets the same message twice. -DFIXED looks at the bit.
 */
// expect: violated assert states=1408 transitions=3313
// expect-with: -DFIXED holds deadlock,assert states=282 transitions=672
// expect-with: -DFIXED violated ltl:arrives fair=weak

#define COUNT 4		/* payloads are 0, 1, 2, 3, 0, 1, ... */

mtype = { data, ack };

chan forth = [1] of { mtype, bit, byte };
chan back  = [1] of { mtype, bit };
byte delivered;		/* the payload that the user waits for */

active proctype Sender()
{
	bit number;
	byte payload;

	do
	:: forth ! data(number, payload)
	:: forth ? data(_, _)			/* the wire loses it */
	:: back ? ack(eval(number)) ->
		number = 1 - number;
		payload = (payload + 1) % COUNT
	:: back ? ack(eval(1 - number))		/* an old acknowledgement */
	od
}

active proctype Receiver()
{
	bit expected, number;
	byte payload;

	do
	:: forth ? data(number, payload) ->
#ifdef FIXED
		if
		:: number != expected		/* a repetition: only acknowledge it */
		:: else ->
#endif
			assert(payload == delivered);
			delivered = (delivered + 1) % COUNT;
			expected = 1 - expected
#ifdef FIXED
		fi
#endif
		;
		if
		:: back ! ack(number)
		:: skip				/* the wire loses it */
		fi
	od
}

ltl arrives { <> (delivered == 1) }
