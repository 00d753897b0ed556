/* The search for failed steps is endless, but a run on which the formula fails has a cycle of two steps: every property
 * gets its share, and a search for cycles does not follow a counter to its end first.
 */
// expect: violated ltl:l size=bench

int a, b;
byte done;
ltl l { <> (done == 1) }

active proctype P() { do :: a++ :: a-- od }
active proctype Q() { do :: b++ :: b-- od }
active proctype R() { (a == b && a > 1000000) -> done = 1 }
