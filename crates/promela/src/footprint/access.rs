//! Accesses of statements, before array indices and channel ids are known.

use crate::ir::{
    Action, Assign, ControlState, Edge, Expr, Field, Model, Pc, Place, Proctype, ProctypeId, Receive, Run, Send, Space,
};

/// One access of a statement.
#[derive(Clone, Debug)]
pub struct Access {
    /// The object.
    pub what: What,
    /// Whether it may change it.
    pub write: bool,
}

/// The object of an access.
///
/// One variant for each thing that processes can notice of each other. Locals are not objects
/// unless somebody looks at them from outside: then a write of the owner "reads" the object and the
/// look "writes" it (decision 1, "changes read, looks write").
#[derive(Clone, Debug)]
pub enum What {
    /// A place of a global variable: byte offset and, for arrays, the outermost index that picks the element.
    Global(Place),
    /// Local variables of processes of a proctype, as `P[i]:x` sees them.
    Locals(ProctypeId),
    /// A channel, by the expression that names it.
    Channel(Expr, Use),
    /// How many processes there are (`_nr_pr`).
    ProcessCount,
    /// Creation of processes.
    Creation,
    /// The end of a process.
    Death,
    /// The position of processes of a proctype, as `P[i]@label` sees it.
    Position(ProctypeId),
    /// Progress and accept labels, as `np_` and acceptance see them.
    Labels,
    /// That nothing else can move (`timeout`).
    Stillness,
    /// Something that cannot be pinned down.
    Everything,
}

/// How a channel is used.
///
/// Sending to and receiving from a buffered channel commute unless it is empty or full: a channel
/// is two objects, its front and its back, and which of them an operation touches depends on the
/// length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// Appends a message.
    Send,
    /// Inserts a message anywhere.
    SendSorted,
    /// Takes the oldest message, if it fits.
    Receive,
    /// Takes the oldest message that fits.
    ReceiveAnywhere,
    /// Reads length or contents.
    Look,
}

/// Collects the accesses of statements of one proctype.
pub struct Collector<'m> {
    model: &'m Model,
    proctype: Option<ProctypeId>,
    /// What was collected.
    pub accesses: Vec<Access>,
}

impl<'m> Collector<'m> {
    /// For statements of a proctype, or for claims if there is none.
    #[must_use]
    pub fn new(model: &'m Model, proctype: Option<ProctypeId>) -> Self {
        Self { model, proctype, accesses: Vec::new() }
    }

    fn push(&mut self, what: What, write: bool) {
        self.accesses.push(Access { what, write });
    }

    /// The accesses of evaluating or executing an edge, without what follows it in an atomic sequence.
    pub fn edge(&mut self, states: &[ControlState], pc: Pc, edge: &Edge) {
        self.movement(states, pc, edge.target, &edge.action);
        if edge.is_else(states) {
            self.alternatives(states, pc);
        }
        match &edge.action {
            Action::Condition(condition) => self.expr(condition),
            Action::Assert { condition, .. } => self.expr(condition),
            Action::Assign(assign) => self.assign(assign),
            Action::Send(send) => self.send(send),
            Action::Receive(receive) => self.receive(receive),
            Action::Die => self.death(),
            Action::SetPriority { .. } | Action::ReadInput(_) => self.push(What::Everything, true),
            Action::DStep { inside, .. } => self.d_step(states, inside),
            Action::Else | Action::Print(_) => {}
        }
    }

    /// Leaving or entering a control state changes the position, and the labels if one has any.
    ///
    /// Every step moves its process; only a property or a `P@label` that looks makes this matter.
    fn movement(&mut self, states: &[ControlState], pc: Pc, target: Pc, action: &Action) {
        let Some(proctype) = self.proctype else { return };
        self.push(What::Position(proctype), true);
        let labelled = |pc: Pc| states.get(pc).is_some_and(|state| state.progress || state.accept);
        if labelled(pc) || (!matches!(action, Action::Die) && labelled(target)) {
            self.push(What::Labels, true);
        }
    }

    /// Whether `else` is executable depends on whether the other options are: a send to an empty channel, or a receive from a
    /// full one, changes that, although it commutes with a receive or a send.
    ///
    /// The subtle one: `else` is a statement about what is *not* possible.
    fn alternatives(&mut self, states: &[ControlState], pc: Pc) {
        for edge in &states[pc].edges {
            match &edge.action {
                Action::Send(send) => self.push(What::Channel(send.channel.clone(), Use::Look), false),
                Action::Receive(receive) => self.push(What::Channel(receive.channel.clone(), Use::Look), false),
                Action::DStep { entry, .. } if *entry != pc => self.alternatives(states, *entry),
                _ => {}
            }
        }
    }

    fn d_step(&mut self, states: &[ControlState], inside: &[Pc]) {
        for pc in inside {
            for edge in &states[*pc].edges {
                self.edge(states, *pc, edge);
            }
        }
    }

    fn death(&mut self) {
        self.push(What::Death, true);
        self.push(What::ProcessCount, true);
        let Some(proctype) = self.proctype else { return };
        // Its channels end with the process.
        for channel in &self.model.proctypes[proctype].channels {
            match &channel.variable {
                Some(place) => self.push(What::Channel(Expr::Load(place.clone()), Use::SendSorted), true),
                None => self.push(What::Everything, true),
            }
        }
    }

    fn assign(&mut self, assign: &Assign) {
        self.expr(&assign.value);
        self.place(&assign.place, true);
    }

    fn send(&mut self, send: &Send) {
        self.expr(&send.channel);
        send.values.iter().for_each(|value| self.expr(value));
        self.promises();
        let how = if send.sorted { Use::SendSorted } else { Use::Send };
        self.push(What::Channel(send.channel.clone(), how), true);
    }

    fn receive(&mut self, receive: &Receive) {
        self.expr(&receive.channel);
        for field in &receive.fields {
            match field {
                Field::Store(place) => self.place(place, true),
                Field::Match(value) => self.expr(value),
                Field::Ignore => {}
            }
        }
        self.promises();
        let how = if receive.anywhere { Use::ReceiveAnywhere } else { Use::Receive };
        self.push(What::Channel(receive.channel.clone(), how), true);
    }

    fn place(&mut self, place: &Place, write: bool) {
        place.indices.iter().for_each(|index| self.expr(&index.value));
        match &place.space {
            Space::Global => self.push(What::Global(place.clone()), write),
            Space::Local if write => self.local_write(),
            Space::Local => {}
            // It may belong to any process of that type, or to none; and it goes away with it.
            Space::Remote(proctype, _) => {
                self.push(What::Locals(*proctype), write);
                self.push(What::ProcessCount, false);
            }
        }
    }

    fn local_write(&mut self) {
        if let Some(proctype) = self.proctype {
            self.push(What::Locals(proctype), true);
        }
    }

    /// The accesses of evaluating an expression.
    pub fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Constant(_) | Expr::Pid => {}
            Expr::Load(place) => self.place(place, false),
            Expr::ChannelOf { index, .. } => self.expr(index),
            Expr::Unary(_, a) => self.expr(a),
            Expr::Binary(_, a, b) | Expr::And(a, b) | Expr::Or(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            Expr::If(a, b, c) => [a, b, c].into_iter().for_each(|part| self.expr(part)),
            Expr::Channel(_, channel) => {
                self.expr(channel);
                self.promises();
                self.push(What::Channel((**channel).clone(), Use::Look), false);
            }
            Expr::Poll(receive) => self.poll(receive),
            Expr::Processes => self.push(What::ProcessCount, false),
            Expr::NonProgress | Expr::Accepting => self.push(What::Labels, false),
            Expr::At { proctype, pid, .. } => {
                pid.iter().for_each(|pid| self.expr(pid));
                self.push(What::Position(*proctype), false);
                // A process that appears or disappears changes the answer, too.
                self.push(What::ProcessCount, false);
            }
            Expr::Run(run) => self.run(run),
            Expr::Timeout => self.push(What::Stillness, false),
            Expr::Last | Expr::Enabled(_) | Expr::PcValue(_) | Expr::Priority(_) => {
                self.push(What::Everything, false);
            }
        }
    }

    fn poll(&mut self, receive: &Receive) {
        self.expr(&receive.channel);
        for field in &receive.fields {
            if let Field::Match(value) = field {
                self.expr(value);
            }
        }
        self.promises();
        self.push(What::Channel(receive.channel.clone(), Use::Look), false);
    }

    /// Whether an `xr` or `xs` promise is broken depends on whether the process that made it exists.
    fn promises(&mut self) {
        let promises =
            |proctype: &Proctype| !proctype.exclusive_receive.is_empty() || !proctype.exclusive_send.is_empty();
        if self.model.proctypes.iter().any(promises) {
            self.push(What::ProcessCount, false);
        }
    }

    fn run(&mut self, run: &Run) {
        run.arguments.iter().for_each(|argument| self.expr(argument));
        self.push(What::Creation, true);
        self.push(What::ProcessCount, true);
        let created: &Proctype = &self.model.proctypes[run.proctype];
        // Initial values may read globals; labels of the new process's first state come into being.
        for initialiser in &created.initialisers {
            self.expr(&initialiser.value);
        }
        self.push(What::Position(run.proctype), true);
        self.push(What::Labels, true);
    }
}
