pan:1: invalid end state (at depth 11)
pan:1: acceptance cycle (at depth 8)
pan:1: end state in claim reached (at depth 6)

(Spin Version 6.5.2 -- format only, by Allways 0.1.0)
	+ Breadth-First Search
	+ Partial Order Reduction

Full statespace search for:
	never claim         	+ (served, p12, never_0)
	assertion violations	+
	acceptance   cycles 	+ (fairness disabled)
	invalid end states	+

State-vector 24 byte, depth reached 57, errors: 5
    48213 states, stored
    72227 states, matched
   120440 transitions (= stored+matched)
hash conflicts:         0 (resolved)

Stats on memory usage (in Megabytes):
    0.429	actual memory usage for states
   18.120	total actual memory usage

unreached in proctype transfer
	bank.pml:9, state 14, "-end-"
	(1 of 14 states)

pan: elapsed time 0.431 seconds
pan: rate    111863 states/second
