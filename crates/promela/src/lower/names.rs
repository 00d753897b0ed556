//! What a name means: symbols, scopes, record types, mtype constants.
//!
//! Promela's scopes as SPIN 6 has them: a name is visible from its declaration on, in its block and
//! those inside. A use carries how many symbols were declared before it (`order`), because lookup
//! happens after everything was read.

use crate::ast::Name;
use crate::ir::{Channel, Features, Pc, Scalar, Shown};
use crate::source::Span;
use std::collections::HashMap;
use trace::similar::closest;

/// Index into [`Names::symbols`].
pub(super) type SymbolId = usize;
/// Index into [`Names::scopes`].
pub(super) type ScopeId = usize;
/// Index into [`Names::records`].
pub(super) type RecordId = usize;

/// The outermost scope.
pub(super) const GLOBAL: ScopeId = 0;

/// All that an expression can name. Owned, so that properties given after the model can be lowered against it.
#[derive(Clone, Debug)]
pub struct Names {
    pub(super) mtypes: HashMap<Name, MtypeConstant>,
    pub(super) records: Vec<Record>,
    pub(super) symbols: Vec<Symbol>,
    pub(super) scopes: Vec<Scope>,
    pub(super) proctypes: Vec<ProctypeNames>,
    /// Global channels, for checks of messages against their type.
    pub(super) channels: Vec<Channel>,
    /// Where the vector holds how many characters of `STDIN` were read, if the model reads any.
    pub(super) input_position: u32,
    /// What the model uses; a later property cannot change the layout of its states.
    pub(super) features: Features,
}

/// What an mtype constant stands for.
#[derive(Clone, Debug)]
pub(super) struct MtypeConstant {
    pub set: String,
    pub value: i32,
    pub span: Span,
}

/// What others can see of a proctype.
#[derive(Clone, Debug)]
pub(super) struct ProctypeNames {
    pub name: Name,
    pub parameters: Vec<SymbolId>,
    /// The scope of its body; locals of inner blocks are found through `locals`.
    pub scope: ScopeId,
    pub locals: Vec<SymbolId>,
    /// Every label, with its control state if a process can stand there.
    pub labels: Vec<(Name, Option<Pc>)>,
}

/// A block in which names live.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub parent: Option<ScopeId>,
    pub names: HashMap<Name, SymbolId>,
}

/// A variable.
#[derive(Clone, Debug)]
pub(super) struct Symbol {
    pub name: Name,
    pub span: Span,
    pub ty: Ty,
    /// Number of elements; `None` if it is not an array.
    pub length: Option<u32>,
    /// Declarations are numbered, so that a use before the declaration can be told.
    pub order: usize,
    /// Whether it lives in a process's frame.
    pub local: bool,
    pub hidden: bool,
    /// Where it stands in the vector or the frame; set by layout.
    pub offset: u32,
    /// A channel variable that never changes: the id of its (first) channel.
    pub channel: Option<i32>,
}

/// A type.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Ty {
    Scalar(Scalar, Shown),
    Record(RecordId),
}

impl Ty {
    pub(super) fn is_channel(&self) -> bool {
        matches!(self, Ty::Scalar(_, Shown::Channel))
    }
}

/// A `typedef`.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub name: Name,
    pub fields: Vec<Field>,
    pub size: u32,
}

/// A field of a `typedef`.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub name: Name,
    pub ty: Ty,
    pub length: Option<u32>,
    pub offset: u32,
}

/// A scalar inside a record, with its place relative to the record.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub offset: u32,
    pub scalar: Scalar,
    pub shown: Shown,
}

/// Where a name is used: in which block, and after how many declarations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub scope: ScopeId,
    pub order: usize,
}

impl Default for Names {
    fn default() -> Self {
        Names {
            mtypes: HashMap::new(),
            records: Vec::new(),
            symbols: Vec::new(),
            scopes: vec![Scope::default()],
            proctypes: Vec::new(),
            channels: Vec::new(),
            input_position: 0,
            features: Features::default(),
        }
    }
}

impl Names {
    /// Opens a block inside `parent`.
    pub(super) fn open(&mut self, parent: ScopeId) -> ScopeId {
        self.scopes.push(Scope { parent: Some(parent), names: HashMap::new() });
        self.scopes.len() - 1
    }

    /// The variable that `name` means at `place`.
    pub(super) fn find(&self, name: &str, place: Use) -> Option<SymbolId> {
        let mut scope = Some(place.scope);
        while let Some(at) = scope {
            let found = self.scopes[at].names.get(name).copied();
            if let Some(symbol) = found.filter(|&symbol| self.symbols[symbol].order < place.order) {
                return Some(symbol);
            }
            scope = self.scopes[at].parent;
        }
        None
    }

    /// The number of a proctype.
    pub(super) fn proctype(&self, name: &str) -> Option<usize> {
        self.proctypes.iter().position(|proctype| &*proctype.name == name)
    }

    /// Bytes of one element of a type; elements of bit arrays take a byte like single bits.
    pub(super) fn size(&self, ty: &Ty) -> u32 {
        match ty {
            Ty::Scalar(scalar, _) => scalar.size(),
            Ty::Record(record) => self.records[*record].size,
        }
    }

    /// All scalars of an element of a type, in order: what a message field or an argument of that type consists of.
    pub(super) fn leaves(&self, ty: &Ty) -> Vec<Leaf> {
        let mut found = Vec::new();
        self.collect_leaves(ty, None, 0, &mut found);
        found
    }

    fn collect_leaves(&self, ty: &Ty, length: Option<u32>, offset: u32, found: &mut Vec<Leaf>) {
        if let Some(length) = length {
            let stride = self.size(ty);
            for index in 0..length {
                self.collect_leaves(ty, None, offset + index * stride, found);
            }
            return;
        }
        match ty {
            Ty::Scalar(scalar, shown) => {
                found.push(Leaf { offset, scalar: *scalar, shown: shown.clone() });
            }
            Ty::Record(record) => {
                for field in &self.records[*record].fields {
                    self.collect_leaves(&field.ty, field.length, offset + field.offset, found);
                }
            }
        }
    }

    /// Whether a structure has an array in it, however deep.
    pub(super) fn has_array(&self, ty: &Ty) -> bool {
        let Ty::Record(record) = ty else { return false };
        self.records[*record].fields.iter().any(|field| field.length.is_some() || self.has_array(&field.ty))
    }

    /// A name that looks like `wanted` and could be meant at `place`.
    #[allow(clippy::disallowed_methods, reason = "the closest one is the same in any order")]
    pub(super) fn similar(&self, wanted: &str, place: Use) -> Option<&str> {
        let mut candidates: Vec<&str> = self.mtypes.keys().map(|name| &**name).collect();
        let mut scope = Some(place.scope);
        while let Some(at) = scope {
            candidates.extend(self.scopes[at].names.keys().map(|name| &**name));
            scope = self.scopes[at].parent;
        }
        closest(wanted, candidates)
    }
}
