/* Sliding window protocol (go-back-n) over channels that lose messages.
 *
 * The sender may have up to WINDOW messages under way and numbers them modulo WINDOW + 1 (with WINDOW 1: the alternating bit protocol). The receiver takes only the
 * number it waits for and acknowledges the last one it took; an acknowledgement covers everything before it. When
 * nothing arrives, the sender goes back to the oldest message that is not acknowledged. Either channel may lose
 * any message. The payload is the position in the stream modulo SPAN, so that loss, duplication and reordering show.
 *
 * Parameters: WINDOW (at least 1), CAP the capacity of each channel. Numbering modulo WINDOW instead (-DMODULUS=WINDOW)
 * is the classic mistake: the assertion then fails. Delivery
 * is not guaranteed, since a wire may lose everything: fairness between processes does not make it honest.
 * Features: typedef with array, mtype, buffered channels, conditional expressions, d_step with if, empty().
 */
// expect: holds deadlock,assert states=43714 transitions=162024
// expect: violated ltl:keeps_delivering
// expect: violated ltl:keeps_delivering fair=weak
// expect-with: -DWINDOW=2 -DMODULUS=2 violated assert states=3334020 transitions=12754057
// expect-with: -DWINDOW=3 holds deadlock,assert states=5805181 transitions=22414372 size=bench
#ifndef WINDOW
#define WINDOW 1
#endif
#ifndef CAP
#define CAP 1
#endif
#ifndef MODULUS
#define MODULUS (WINDOW + 1)
#endif
#define SPAN (2 * MODULUS)

mtype = { data, ack };

chan to_wire   = [CAP] of { mtype, byte, byte };
chan to_recv   = [CAP] of { mtype, byte, byte };
chan from_recv = [CAP] of { mtype, byte };
chan to_send   = [CAP] of { mtype, byte };

typedef Buffer {
	byte payload[MODULUS];
	byte base;	/* oldest number not acknowledged */
	byte used;	/* how many numbers from base on are under way */
};

bool delivered;		/* flips with every message handed to the user */

active proctype Sender()
{
	Buffer window;
	byte position, next, number;	/* next: how many of the used ones have been sent since going back */

	do
	:: window.used < WINDOW ->		/* take a new message from the user */
		d_step {
			window.payload[(window.base + window.used) % MODULUS] = position;
			window.used++;
			position = (position + 1) % SPAN
		}
	:: next < window.used ->
		number = (window.base + next) % MODULUS;
		to_wire ! data(number, window.payload[number]);
		next++
	:: to_send ? ack(number) ->
		d_step {
			/* how many of those under way does the acknowledgement cover? */
			number = (number + MODULUS - window.base + 1) % MODULUS;
			if
			:: number <= window.used ->
				window.base = (window.base + number) % MODULUS;
				window.used = window.used - number;
				next = (next > number -> next - number : 0)
			:: else		/* an old one */
			fi;
			number = 0
		}
	:: next == window.used && window.used > 0 && empty(to_send) ->
		next = 0			/* time-out: go back */
	od
}

active proctype Receiver()
{
	byte expected, number, payload, position;

	do
	:: to_recv ? data(number, payload) ->
		d_step {
			if
			:: number == expected ->
				assert(payload == position);	/* every message, once, in order */
				delivered = !delivered;
				position = (position + 1) % SPAN;
				expected = (expected + 1) % MODULUS
			:: else		/* a gap or a duplicate: acknowledge the last good one again */
			fi;
			number = (expected + MODULUS - 1) % MODULUS;
			payload = 0
		}
		from_recv ! ack(number)
	od
}

active proctype DataWire()
{
	byte number, payload;

	do
	:: to_wire ? data(number, payload) ->
		if
		:: to_recv ! data(number, payload)
		:: skip				/* lost */
		fi
	od
}

active proctype AckWire()
{
	byte number;

	do
	:: from_recv ? ack(number) ->
		if
		:: to_send ! ack(number)
		:: skip				/* lost */
		fi
	od
}

ltl keeps_delivering { [] <> delivered && [] <> !delivered }
