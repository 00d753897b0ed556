//! Binary operators, with the precedences of SPIN's grammar.

use crate::ast::BinaryOp;
use crate::lex::Token;

/// Binary operators: spelling, meaning and level, the tightest having the highest.
const OPERATORS: [(&str, BinaryOp, u8); 18] = [
    ("||", BinaryOp::Or, 1),
    ("&&", BinaryOp::And, 2),
    ("|", BinaryOp::BitOr, 3),
    ("^", BinaryOp::BitXor, 4),
    ("&", BinaryOp::BitAnd, 5),
    ("==", BinaryOp::Equal, 6),
    ("!=", BinaryOp::NotEqual, 6),
    ("<", BinaryOp::Less, 7),
    (">", BinaryOp::Greater, 7),
    ("<=", BinaryOp::LessEqual, 7),
    (">=", BinaryOp::GreaterEqual, 7),
    ("<<", BinaryOp::ShiftLeft, 8),
    (">>", BinaryOp::ShiftRight, 8),
    ("+", BinaryOp::Add, 9),
    ("-", BinaryOp::Subtract, 9),
    ("*", BinaryOp::Multiply, 10),
    ("/", BinaryOp::Divide, 10),
    ("%", BinaryOp::Remainder, 10),
];

/// The level below all operators.
pub(super) const LOOSEST: u8 = 1;
/// The level of the loosest operator that is not boolean.
pub(super) const ARITHMETIC: u8 = 3;

/// Meaning and level of a binary operator.
pub(super) fn operator(token: &Token) -> Option<(BinaryOp, u8)> {
    OPERATORS.iter().find(|(text, ..)| token.is(text)).map(|&(_, op, level)| (op, level))
}
