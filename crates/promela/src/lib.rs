//! Promela: preprocessor, parser, semantics, code generation.

pub mod ast;
pub mod diagnostic;
pub mod lex;
pub mod parse;
pub mod preprocess;
pub mod source;
