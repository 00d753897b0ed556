//! What a check of programs was asked for.

use crate::options::{Options, ViewOptions};
use crate::request::Request;
use checker::Engine;
use trace::FailureKind;

/// Kinds of failure that programs can have, in the order in which reports list them.
pub const KINDS: [FailureKind; 7] = [
    FailureKind::Deadlock,
    FailureKind::Assert,
    FailureKind::Crash,
    FailureKind::Exit,
    FailureKind::Race,
    FailureKind::Misuse,
    FailureKind::Livelock,
];

/// What to look for, and how.
pub struct Wanted {
    /// What every check knows.
    pub request: Request,
    /// How to search.
    pub engine: Engine,
    /// How to look at programs.
    pub view: ViewOptions,
    /// Of so many results that are memoized or inherited, one is worked out again.
    pub audit: Option<u32>,
    /// Nothing is kept.
    pub no_save: bool,
}

impl Wanted {
    /// As the user says.
    pub fn new(options: &Options, no_save: bool) -> Self {
        Self {
            request: Request::new(&options.search),
            engine: options.engine.engine(&options.search),
            view: options.view.clone(),
            audit: options.engine.audit,
            no_save,
        }
    }

    /// Whether a kind of failure is looked for.
    ///
    /// Livelocks only on request, because they need assumptions; exit codes not if the user's own proposition says what must
    /// not happen; races not where steps are as long as the user wants them.
    pub fn wants(&self, kind: FailureKind) -> bool {
        match kind {
            FailureKind::Livelock => self.request.asks_for(kind),
            FailureKind::Race if self.view.only_breaks => self.request.asks_for(kind),
            FailureKind::Exit if !self.view.never.is_empty() || !self.view.finally.is_empty() => {
                self.request.asks_for(kind)
            }
            _ => self.request.wants(kind),
        }
    }

    /// Whether all failures of a kind are shown, not one of each.
    pub fn shows_all(&self) -> bool {
        self.request.keep_going && !self.request.each_part
    }

    /// All kinds that are looked for.
    pub fn kinds(&self) -> Vec<FailureKind> {
        KINDS.into_iter().filter(|kind| self.wants(*kind)).collect()
    }

    /// Whether a loop that only waits for a word to change is one operation.
    pub fn awaits(&self) -> bool {
        checker::awaits(&self.engine)
    }

    /// How the checker looks at programs that read this.
    pub fn checker_options(&self, stdin: &[u8]) -> checker::Options {
        let options = self.view.checker_options(&self.kinds(), self.awaits());
        checker::Options { audit: self.audit, input: stdin.into(), ..options }
    }
}
