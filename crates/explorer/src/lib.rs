//! A system in the browser: the page of a trace, live. Any enabled choice can be taken by hand, any state looked at.
//!
//! The page itself is `report`'s; this crate adds `live.js`, which asks, and answers it. Models and programs are the same to it.
//!
//! **Invariant:** everything that the page shows was executed here. The server listens on the loopback interface alone and
//! answers nobody who does not know the token; it reads no file but sources that a trace named.

mod http;
mod position;
mod server;
mod session;
mod view;

pub use http::{Answer, Method, Request, read_request};
pub use server::{Save, Surroundings, serve};
pub use session::{Describe, Session};
