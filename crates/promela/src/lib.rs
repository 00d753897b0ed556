//! Promela: preprocessor, parser, semantics, code generation.

pub mod ast;
pub mod diagnostic;
pub mod footprint;
pub mod ir;
#[cfg(feature = "native")]
pub mod jit;
pub mod lex;
pub mod lower;
pub mod parse;
pub mod preprocess;
pub mod property;
pub mod run;
pub mod source;
pub mod trail;
