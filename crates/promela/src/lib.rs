//! Promela, the language of SPIN: from bytes to a [`TransitionSystem`](explore::TransitionSystem).
//!
//! The way of a model, one module for each part of it: [`preprocess`] (with [`lex`]) makes tokens, [`parse`] a tree
//! ([`ast`]), [`lower`] control graphs and a layout of the state ([`ir`]), and [`run`] gives them their meaning.
//! `jit` executes the same statements faster, [`engines`] search them, [`footprint`] tells the reduction what they touch, [`property`] makes
//! monitors of claims and formulas, [`trail`] speaks SPIN's file format. [`source`] and [`diagnostic`] are what every
//! message needs: a place, and a way to show it.
//!
//! **Invariant:** no C compiler and no external preprocessor. No input panics; every complaint names a place. The
//! interpreter in [`run`] is the reference for whatever else executes statements.

pub mod ast;
mod dead;
pub mod diagnostic;
pub mod engines;
pub mod faults;
pub mod footprint;
pub mod input;
pub mod ir;
#[cfg(feature = "native")]
pub mod jit;
pub mod lex;
pub mod lower;
pub mod parse;
pub mod preprocess;
pub mod property;
mod read;
pub mod run;
pub mod source;
pub mod trail;
pub mod unread;
