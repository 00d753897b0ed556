//! Promela: preprocessor, parser, semantics, code generation.

pub mod ast;
pub mod diagnostic;
pub mod parse;
pub mod source;
