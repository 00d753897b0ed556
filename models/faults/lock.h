/* Two clients of a lock server. What they protect is a file: whoever writes it must find there what it wrote. */
chan request = [2] of { bit };
chan grant   = [1] of { bit };
chan release = [2] of { bit };
byte file;

inline client()
{
	request!1;
	grant?_;
	file = _pid;
	assert(file == _pid);
	release!1
}

active proctype one() { client() }
active proctype two() { client() }
