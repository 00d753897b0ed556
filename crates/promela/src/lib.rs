//! Promela: preprocessor, parser, semantics, code generation.

pub mod ast;
pub mod diagnostic;
pub mod ir;
pub mod lex;
pub mod lower;
pub mod parse;
pub mod preprocess;
pub mod source;
