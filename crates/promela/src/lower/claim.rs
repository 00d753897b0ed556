//! Never claims, LTL properties and event claims.
//!
//! Never claims may only look: a statement that changes something would make the property change
//! the system. SPIN warns about side effects; here they are errors.

use super::element::{Flow, Node};
use super::graph::{Graph, pcs};
use super::labelled_jump::fix_labelled_jump;
use super::lowering::{Lowering, Within};
use super::names::{GLOBAL, Names, Use};
use super::{Body, BodyKind, Collected, text, visit};
use crate::ast::{self, ExprKind, Item, Ltl, LtlKind, Program};
use crate::diagnostic::{Diagnostic, Severity};
use crate::ir::{Action, Claim, ClaimKind, ControlState, EventTrace, Expr, Features, Field, NeverClaim, Pc};
use ltl::Formula;

/// Lowers a formula that is given after the model, such as on the command line.
///
/// The model stays as it is. A formula that needs more of it (`_last` or priorities, which states do not hold unless the
/// model asks for them; a label on a `goto`, which is no state) is refused or never true there: append it to the program
/// as an `ltl` item before lowering instead.
///
/// # Errors
/// What is wrong with it.
pub fn lower_ltl(names: &Names, formula: &Ltl) -> Result<ClaimKind, Vec<Diagnostic>> {
    let mut report = Vec::new();
    let mut features = Features::default();
    let place = Use { scope: GLOBAL, order: names.symbols.len() };
    let mut lowering = Lowering { names, report: &mut report, features: &mut features, place, within: Within::Claim };
    let kind = lowering.ltl(formula);
    if (features.last && !names.features.last) || (features.priority && !names.features.priority) {
        let told = Diagnostic::error("ltl", formula.span, "states of this model do not hold what the formula asks for");
        report.push(told.help("put the formula into the model as an `ltl` block"));
    }
    let failed = report.iter().any(|told| told.severity == Severity::Error);
    if failed { Err(report) } else { Ok(kind) }
}

impl Lowering<'_> {
    fn ltl(&mut self, formula: &Ltl) -> ClaimKind {
        let mut atoms = Atoms::default();
        let formula = self.formula(formula, &mut atoms);
        ClaimKind::Ltl { formula, propositions: atoms.propositions, texts: atoms.texts }
    }

    fn formula(&mut self, formula: &Ltl, atoms: &mut Atoms) -> Formula {
        match &formula.kind {
            LtlKind::Atom(expr) => self.atom(expr, atoms),
            LtlKind::Not(inner) => self.formula(inner, atoms).not(),
            LtlKind::Next(inner) => self.formula(inner, atoms).next(),
            LtlKind::Always(inner) => self.formula(inner, atoms).globally(),
            LtlKind::Eventually(inner) => self.formula(inner, atoms).finally(),
            LtlKind::And(left, right) => self.formula(left, atoms).and(self.formula(right, atoms)),
            LtlKind::Or(left, right) => self.formula(left, atoms).or(self.formula(right, atoms)),
            LtlKind::Implies(left, right) => self.formula(left, atoms).implies(self.formula(right, atoms)),
            LtlKind::Equivalent(left, right) => self.formula(left, atoms).equiv(self.formula(right, atoms)),
            LtlKind::Until(left, right) => self.formula(left, atoms).until(self.formula(right, atoms)),
            LtlKind::WeakUntil(left, right) => self.formula(left, atoms).weak_until(self.formula(right, atoms)),
            LtlKind::Release(left, right) => self.formula(left, atoms).release(self.formula(right, atoms)),
        }
    }

    /// Equal texts are one proposition, whatever the parser made of them: fewer bits for the
    /// automaton, and valuations that agree.
    fn atom(&mut self, expr: &ast::Expr, atoms: &mut Atoms) -> Formula {
        if let ExprKind::Int(value, _) = expr.kind {
            return if value == 0 { Formula::False } else { Formula::True };
        }
        let lowered = self.expr(expr);
        let text = text::expr(expr);
        let known = atoms.texts.iter().position(|known| *known == text);
        let index = known.unwrap_or_else(|| {
            atoms.texts.push(text);
            atoms.propositions.push(lowered);
            atoms.texts.len() - 1
        });
        Formula::Atom(index as u32)
    }
}

/// Propositions of a formula, each once.
#[derive(Default)]
struct Atoms {
    propositions: Vec<Expr>,
    texts: Vec<String>,
}

impl<'a> Collected<'a> {
    /// SPIN reads formulas after everything else.
    pub(super) fn fix_jumps_named_by_formulas(&mut self, program: &'a Program) {
        let (names, bodies, unique) = (&self.names, &mut self.bodies, &mut self.unique);
        visit::atoms(program, &mut |atom| {
            visit::expressions(atom, &mut |expr| fix_labelled_jump(expr, names, bodies, unique));
        });
    }

    /// Claims in source order, and the event claim.
    pub(super) fn claims(&mut self, program: &'a Program) -> (Vec<Claim>, Option<EventTrace>) {
        let bodies = std::mem::take(&mut self.bodies);
        let mut nevers = bodies.iter().filter(|body| matches!(body.kind, BodyKind::Never));
        let mut traces = bodies.iter().filter(|body| matches!(body.kind, BodyKind::Trace));
        let (mut claims, mut event_trace) = (Vec::new(), None);
        let (mut unnamed_never, mut unnamed_ltl) = (0, 0);
        for item in &program.items {
            match item {
                Item::Never(never) => {
                    let Some(body) = nevers.next() else { continue };
                    let name = name_of(never.name.as_ref(), "never", unnamed_never);
                    unnamed_never += 1;
                    let kind = self.never(body);
                    self.claim(&mut claims, Claim { name, kind, span: never.span });
                }
                Item::Ltl(block) => {
                    let name = name_of(block.name.as_ref(), "ltl", unnamed_ltl);
                    unnamed_ltl += i32::from(block.name.is_none());
                    let place = Use { scope: GLOBAL, order: self.names.symbols.len() };
                    let kind = self.lowering(place, Within::Claim).ltl(&block.formula);
                    self.claim(&mut claims, Claim { name, kind, span: block.span });
                }
                Item::Trace(trace) => {
                    let Some(body) = traces.next() else { continue };
                    if event_trace.is_some() {
                        self.report.push(Diagnostic::error(
                            "trace",
                            trace.span,
                            "a model has at most one trace or notrace",
                        ));
                    }
                    event_trace = Some(self.event_trace(body, trace.negated));
                }
                _ => {}
            }
        }
        self.bodies = bodies;
        (claims, event_trace)
    }

    fn claim(&mut self, claims: &mut Vec<Claim>, claim: Claim) {
        if claims.iter().any(|known| known.name == claim.name) {
            self.report.push(Diagnostic::error(
                "redeclared",
                claim.span,
                format!("claim `{}` is declared twice", claim.name),
            ));
        }
        claims.push(claim);
    }

    fn never(&mut self, body: &Body<'a>) -> ClaimKind {
        let (states, entry, closing) = self.claim_states(body, Within::Claim);
        for state in &states {
            for edge in &state.edges {
                let allowed =
                    matches!(edge.action, Action::Condition(_) | Action::Else | Action::Assert { .. } | Action::Die);
                if !allowed {
                    let told = Diagnostic::error("claim", edge.span, "a never claim must not change the state");
                    self.report.push(told.note("only conditions, `else` and assertions can stand in it"));
                }
            }
        }
        ClaimKind::Never(NeverClaim { states, entry, closing })
    }

    fn claim_states(&mut self, body: &Body<'a>, within: Within) -> (Vec<ControlState>, Pc, Pc) {
        let Some(graph) = &body.graph else { return (Vec::new(), 0, 0) };
        let mut states = self.states(&body.flow, graph, within);
        for state in &mut states {
            state.edges.retain(|edge| !matches!(edge.action, Action::Die));
        }
        let pcs = pcs(graph);
        let entry = pcs.get(&graph.entry).copied().unwrap_or_default();
        (states, entry, closing(&body.flow, graph))
    }

    /// Sends are lowered as receives that keep the message (`keep`): matching an event is matching
    /// a pattern against fields. The alphabet is what the claim mentions; all other events pass
    /// unseen.
    fn event_trace(&mut self, body: &Body<'a>, negated: bool) -> EventTrace {
        let (mut states, entry, closing) = self.claim_states(body, Within::Trace);
        let mut alphabet: Vec<(Expr, bool)> = Vec::new();
        for edge in states.iter_mut().flat_map(|state| &mut state.edges) {
            let event = match &mut edge.action {
                Action::Receive(receive) => {
                    // A variable in a pattern stands for any value.
                    for field in receive.fields.iter_mut().filter(|field| matches!(field, Field::Store(_))) {
                        *field = Field::Ignore;
                    }
                    Some((receive.channel.clone(), receive.keep))
                }
                Action::Condition(Expr::Constant(1)) | Action::Else => None,
                _ => {
                    self.report.push(Diagnostic::error("trace", edge.span, "only sends and receives are events"));
                    None
                }
            };
            if let Some((channel, sends)) = event
                && !alphabet
                    .iter()
                    .any(|(known, same)| *same == sends && format!("{known:?}") == format!("{channel:?}"))
            {
                alphabet.push((channel, sends));
            }
        }
        EventTrace { negated, states, entry, closing, alphabet }
    }
}

fn name_of(name: Option<&ast::Ident>, kind: &str, number: i32) -> String {
    name.map_or_else(|| format!("{kind}_{number}"), |name| name.name.to_string())
}

fn closing(flow: &Flow<'_>, graph: &Graph) -> Pc {
    let end = flow.elements.iter().find(|element| matches!(element.node, Node::End));
    end.and_then(|end| pcs(graph).get(&end.number).copied()).unwrap_or_default()
}
