//! Expressions.
//!
//! **Invariant:** the value, and whether evaluation fails, are those of the interpreter for every
//! state. Where evaluation would fail (a division by zero, an index outside), the code does not
//! report: it leaves with `ASK`, and the interpreter does the step again and says why.

use super::emit::{Address, Emitter};
use crate::ir::{Binary, Expr, Space, Unary, VECTOR_LAST};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types};

impl Emitter<'_, '_> {
    /// The value of an expression, 32 bits.
    pub fn value(&mut self, expr: &Expr) -> Option<Value> {
        match expr {
            Expr::Constant(value) => Some(self.int(*value)),
            Expr::Load(place) => self.load_place(place),
            Expr::ChannelOf { first, count, index } => {
                let index = self.bounded(index, *count)?;
                let first = self.int(*first);
                Some(self.builder.ins().iadd(first, index))
            }
            Expr::Unary(Unary::Negate, a) => self.value(a).map(|a| self.builder.ins().ineg(a)),
            Expr::Unary(Unary::Complement, a) => self.value(a).map(|a| self.builder.ins().bnot(a)),
            Expr::Binary(operator, a, b) if comparison(*operator).is_none() => self.arithmetic(*operator, a, b),
            Expr::Unary(Unary::Not, _) | Expr::Binary(..) | Expr::And(..) | Expr::Or(..) => {
                let flag = self.flag(expr)?;
                Some(self.builder.ins().uextend(types::I32, flag))
            }
            Expr::If(condition, yes, no) => self.either(condition, yes, no),
            Expr::Channel(query, channel) => self.query(*query, channel),
            Expr::Poll(receive) => self.poll(receive),
            Expr::Pid => Some(self.who_bits(0, 8)),
            Expr::Timeout => Some(self.who_bits(8, 8)),
            Expr::Processes => Some(self.processes()),
            Expr::Last => {
                let at = Address { base: self.vector, offset: VECTOR_LAST as i32 };
                (self.layout.globals_size > VECTOR_LAST).then(|| self.load(at, crate::ir::Scalar::Byte))
            }
            Expr::At { proctype, pid, states } => self.at_label(*proctype, pid.as_deref(), states),
            Expr::NonProgress
            | Expr::Accepting
            | Expr::Enabled(_)
            | Expr::PcValue(_)
            | Expr::Priority(_)
            | Expr::Run(_) => None,
        }
    }

    /// Goes to `yes` if the expression is not zero, to `no` if it is.
    pub fn branch(&mut self, expr: &Expr, yes: Block, no: Block) -> Option<()> {
        match expr {
            Expr::And(a, b) => {
                let second = self.builder.create_block();
                self.branch(a, second, no)?;
                self.go(second);
                self.branch(b, yes, no)
            }
            Expr::Or(a, b) => {
                let second = self.builder.create_block();
                self.branch(a, yes, second)?;
                self.go(second);
                self.branch(b, yes, no)
            }
            Expr::Unary(Unary::Not, a) => self.branch(a, no, yes),
            _ => {
                let flag = self.flag(expr)?;
                self.builder.ins().brif(flag, yes, &[], no, &[]);
                Some(())
            }
        }
    }

    /// Whether an expression is not zero, 8 bits: 0 or 1.
    fn flag(&mut self, expr: &Expr) -> Option<Value> {
        match expr {
            Expr::Binary(operator, a, b) if let Some(how) = comparison(*operator) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                Some(self.builder.ins().icmp(how, a, b))
            }
            Expr::Unary(Unary::Not, a) => {
                let a = self.value(a)?;
                Some(self.compare(IntCC::Equal, a, 0))
            }
            // Where the second operand cannot fail, evaluating it always is cheaper than a jump.
            Expr::And(a, b) if simple(b) => {
                let (a, b) = (self.flag(a)?, self.flag(b)?);
                Some(self.builder.ins().band(a, b))
            }
            Expr::Or(a, b) if simple(b) => {
                let (a, b) = (self.flag(a)?, self.flag(b)?);
                Some(self.builder.ins().bor(a, b))
            }
            Expr::And(..) | Expr::Or(..) => self.joined(expr),
            _ => {
                let value = self.value(expr)?;
                Some(self.compare(IntCC::NotEqual, value, 0))
            }
        }
    }

    fn joined(&mut self, expr: &Expr) -> Option<Value> {
        let [yes, no, join] = [(); 3].map(|()| self.builder.create_block());
        let result = self.builder.append_block_param(join, types::I8);
        self.branch(expr, yes, no)?;
        for (block, truth) in [(yes, 1), (no, 0)] {
            self.go(block);
            let truth = self.builder.ins().iconst(types::I8, truth);
            self.builder.ins().jump(join, &[BlockArg::Value(truth)]);
        }
        self.go(join);
        Some(result)
    }

    fn either(&mut self, condition: &Expr, yes: &Expr, no: &Expr) -> Option<Value> {
        let [if_yes, if_no, join] = [(); 3].map(|()| self.builder.create_block());
        let result = self.builder.append_block_param(join, types::I32);
        self.branch(condition, if_yes, if_no)?;
        for (block, expr) in [(if_yes, yes), (if_no, no)] {
            self.go(block);
            let value = self.value(expr)?;
            self.builder.ins().jump(join, &[BlockArg::Value(value)]);
        }
        self.go(join);
        Some(result)
    }

    fn arithmetic(&mut self, operator: Binary, a: &Expr, b: &Expr) -> Option<Value> {
        let (a, b) = (self.value(a)?, self.value(b)?);
        Some(match operator {
            Binary::Divide | Binary::Remainder => self.divide(operator, a, b),
            Binary::Add => self.builder.ins().iadd(a, b),
            Binary::Subtract => self.builder.ins().isub(a, b),
            Binary::Multiply => self.builder.ins().imul(a, b),
            Binary::BitAnd => self.builder.ins().band(a, b),
            Binary::BitOr => self.builder.ins().bor(a, b),
            Binary::BitXor => self.builder.ins().bxor(a, b),
            // Only the low five bits of the distance count, here and in the interpreter.
            Binary::ShiftLeft => self.builder.ins().ishl(a, b),
            Binary::ShiftRight => self.builder.ins().sshr(a, b),
            _ => return None,
        })
    }

    fn divide(&mut self, operator: Binary, a: Value, b: Value) -> Value {
        let (ask, not_zero) = (self.ask(), self.compare(IntCC::NotEqual, b, 0));
        self.unless(not_zero, ask);
        // The processor traps on the smallest number divided by -1, so nothing is ever divided by -1.
        let (minus, one) = (self.compare(IntCC::Equal, b, -1), self.int(1));
        let divisor = self.builder.ins().select(minus, one, b);
        if operator == Binary::Remainder {
            // The remainder of a division by 1 is that of a division by -1.
            return self.builder.ins().srem(a, divisor);
        }
        let (negated, quotient) = (self.builder.ins().ineg(a), self.builder.ins().sdiv(a, divisor));
        self.builder.ins().select(minus, negated, quotient)
    }
}

fn comparison(operator: Binary) -> Option<IntCC> {
    Some(match operator {
        Binary::Equal => IntCC::Equal,
        Binary::NotEqual => IntCC::NotEqual,
        Binary::Less => IntCC::SignedLessThan,
        Binary::LessEqual => IntCC::SignedLessThanOrEqual,
        Binary::Greater => IntCC::SignedGreaterThan,
        Binary::GreaterEqual => IntCC::SignedGreaterThanOrEqual,
        _ => return None,
    })
}

/// Whether an expression is cheap and cannot fail.
///
/// Reordering or duplicating such an expression cannot be noticed.
fn simple(expr: &Expr) -> bool {
    match expr {
        Expr::Constant(_) | Expr::Pid | Expr::Processes | Expr::Timeout => true,
        Expr::Load(place) => place.indices.is_empty() && !matches!(place.space, Space::Remote(..)),
        Expr::Unary(_, a) => simple(a),
        Expr::Binary(operator, a, b) => {
            !matches!(operator, Binary::Divide | Binary::Remainder) && simple(a) && simple(b)
        }
        _ => false,
    }
}
