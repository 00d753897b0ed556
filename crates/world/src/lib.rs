//! Programs: processors, memory and kernel together, from executable files to steps.
