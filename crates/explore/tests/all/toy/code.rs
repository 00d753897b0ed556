//! What threads are made of.

/// A number or a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    Is(i8),
    Of(usize),
}

/// How a register is compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Compare {
    Equal,
    Differs,
}

impl Compare {
    pub fn holds(self, one: i8, other: i8) -> bool {
        match self {
            Self::Equal => one == other,
            Self::Differs => one != other,
        }
    }
}

/// Whom a thread ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Whom {
    /// One thread, by a signal or by cancelling it.
    One(usize),
    /// All other threads, as execve(2) does.
    Others,
    /// All threads, as exit_group(2) does.
    All,
}

/// One operation. The first group synchronises: one step each. The second is plain: a run of them is a step. The third is
/// nobody else's business.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    Load {
        var: usize,
        into: usize,
    },
    Store {
        var: usize,
        value: Value,
    },
    /// Adds, and leaves the old value in a register.
    Add {
        var: usize,
        value: i8,
        old: usize,
    },
    /// Writes if the variable is what `expected` says; otherwise `expected` becomes what it is.
    Swap {
        var: usize,
        expected: usize,
        new: Value,
        done: usize,
    },
    Lock(usize),
    TryLock {
        mutex: usize,
        done: usize,
    },
    Unlock(usize),
    Sleep {
        queue: usize,
        mutex: usize,
    },
    Signal(usize),
    Broadcast(usize),
    /// Waits until one of these holds.
    Await(Vec<(usize, Compare, i8)>),
    Send {
        channel: usize,
        value: Value,
    },
    Receive {
        channel: usize,
        into: usize,
    },
    Spawn(usize),
    Join(usize),
    /// Any number below the given one.
    Choose {
        below: u32,
        into: usize,
    },
    /// Ends some threads wherever they are; the locks that they hold stay held.
    Kill(Whom),
    /// Sends a thread a signal: its next step is that of the handler, wherever it waits; then it waits on.
    Interrupt(usize),
    /// Makes a lock free although another thread holds it: initialised again, zeroed, released by a thread that does not hold it.
    Free(usize),
    /// Unmaps a page: accesses to it fail.
    Unmap(usize),
    /// Brings it back.
    Map(usize),

    Get {
        word: usize,
        plus: Option<usize>,
        into: usize,
    },
    Put {
        word: usize,
        value: Value,
    },

    Set {
        register: usize,
        value: Value,
    },
    Increase {
        register: usize,
        modulo: i8,
    },
    Branch {
        register: usize,
        compare: Compare,
        value: i8,
        to: usize,
    },
    Jump(usize),
    Assert {
        register: usize,
        compare: Compare,
        value: i8,
        message: &'static str,
    },
    End,
}

impl Op {
    pub fn is_plain(&self) -> bool {
        matches!(self, Self::Get { .. } | Self::Put { .. })
    }

    pub fn is_local(&self) -> bool {
        use Op::{Assert, Branch, End, Increase, Jump, Set};
        matches!(self, Set { .. } | Increase { .. } | Branch { .. } | Jump(_) | Assert { .. } | End)
    }
}

/// A thread being written.
#[derive(Default)]
pub struct Code(pub Vec<Op>);

impl Code {
    pub fn op(&mut self, op: Op) -> &mut Self {
        self.0.push(op);
        self
    }

    pub fn here(&self) -> usize {
        self.0.len()
    }

    /// A branch to a place that comes later; give the answer to [`Code::land`].
    pub fn branch(&mut self, register: usize, compare: Compare, value: i8) -> usize {
        self.op(Op::Branch { register, compare, value, to: usize::MAX });
        self.here() - 1
    }

    /// Makes an earlier branch lead here.
    pub fn land(&mut self, from: usize) {
        let here = self.here();
        let Op::Branch { to, .. } = &mut self.0[from] else { panic!("not a branch") };
        *to = here;
    }

    pub fn done(mut self) -> Vec<Op> {
        self.op(Op::End);
        self.0
    }
}
