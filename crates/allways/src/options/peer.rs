//! A peer, as users write it: `--peer NAME:PORT=COMMAND`, or a section `[check.NAME.peer.NAME]` of `allways.toml`.

use super::address::Address;
use super::user::UserName;
use crate::{units, words};
use ::peer::{Clock, Commands, FRAMINGS, Framing, Ignore, PLACE, Runs, Strategy, Terms};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// What a short form consists of.
pub const HELP: &str = "a name, where it listens, and how it is started: --peer 'db:6379=redis-server --port 6379'";

/// What a pattern of `ignore` looks like.
const IGNORE_HELP: &str = "regular expressions: ignore = [\"Date: [^\\r]*\"]";

/// A peer, with the keys of its section. What is not said is unset.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug, Default)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Its name, by which sections are kept.
    #[serde(skip)]
    pub name: String,
    /// Program and arguments.
    #[serde(deserialize_with = "words::read", skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Where it listens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listens: Option<Address>,
    /// The port of the program to which it connects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connects: Option<Address>,
    /// Variables.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Where it works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_dir: Option<PathBuf>,
    /// Where it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<Where>,
    /// At which places of the conversation it is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// What one connection is answered may depend on others, or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<Connections>,
    /// Whether to report that something else is said at the same place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// In which order messages from it come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// How messages are told apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub framing: Option<String>,
    /// Which clock it sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<Time>,
    /// What of an answer may differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// How long it may take to listen, and to answer.
    #[serde(
        serialize_with = "units::write_time",
        deserialize_with = "units::read_time",
        skip_serializing_if = "Option::is_none"
    )]
    pub patience: Option<Duration>,
    /// As whom it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<UserName>,
    /// The command that keeps it in a folder, `{place}`.
    #[serde(deserialize_with = "words::read", skip_serializing_if = "Vec::is_empty")]
    pub save: Vec<String>,
    /// The command that brings back what was kept there.
    #[serde(deserialize_with = "words::read", skip_serializing_if = "Vec::is_empty")]
    pub restore: Vec<String>,
}

/// Where a peer runs.
#[derive(ValueEnum, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Where {
    /// In a world of its own, on one schedule
    World,
    /// On this machine, as processes that are started anew and told the same again
    Native,
    /// Where somebody else has started it: its connections are opened anew, and it is told the same again
    Remote,
}

/// At which places of the conversation the state of a peer is kept.
#[derive(ValueEnum, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Checkpoint {
    /// Nowhere: it begins again
    Restart,
    /// Where a connection was opened
    AfterConnect,
    /// Where a connection was opened, or something was sent
    AfterIo,
    /// Where it has read a clock, or something random
    AfterNondeterminism,
    /// Everywhere
    Always,
    /// Where that costs less than to tell it the rest again
    Adaptive,
}

impl From<Checkpoint> for Strategy {
    fn from(name: Checkpoint) -> Self {
        match name {
            Checkpoint::Restart => Self::Restart,
            Checkpoint::AfterConnect => Self::AfterConnect,
            Checkpoint::AfterIo => Self::AfterIo,
            Checkpoint::AfterNondeterminism => Self::AfterNondeterminism,
            Checkpoint::Always => Self::Always,
            Checkpoint::Adaptive => Self::Adaptive,
        }
    }
}

/// Which clock a peer sees.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Time {
    /// One that stands still, or that of its own world.
    Virtual,
    /// That of this machine.
    Real,
}

impl From<Time> for Clock {
    fn from(name: Time) -> Self {
        match name {
            Time::Virtual => Self::Virtual,
            Time::Real => Self::Real,
        }
    }
}

/// In which order messages from a peer come.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// As they were sent.
    Sent,
    /// In any.
    Any,
}

/// Whether connections of a peer depend on each other.
#[derive(ValueEnum, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Connections {
    /// All share one order
    Shared,
    /// Each has an order of its own, and is answered as if there were no other one; that is compared
    Independent,
}

impl Spec {
    /// Reads the short form, `NAME:PORT=COMMAND`.
    pub fn short(text: &str) -> Result<Self, String> {
        Self::read_short(text).ok_or_else(|| format!("`{text}` is no peer\n  = help: {HELP}"))
    }

    fn read_short(text: &str) -> Option<Self> {
        let (address, command) = text.split_once('=')?;
        let (name, address) = address.split_once(':')?;
        let (command, listens) = (words::split(command)?, Address::read(address)?);
        let is_whole = !name.is_empty() && !command.is_empty();
        is_whole.then(|| Self { name: name.to_owned(), command, listens: Some(listens), ..Self::default() })
    }

    /// Why it cannot be had, and what to do; what is not supported is never ignored.
    pub fn refused(&self) -> Option<String> {
        let missing = [
            (
                self.command.is_empty() && !self.is_remote(),
                "it has no `command`",
                "command = [\"redis-server\", \"--port\", \"6379\"]",
            ),
            (
                self.listens.is_none() && self.connects.is_none(),
                "it has no `listens` and no `connects`",
                "listens = 6379",
            ),
            (self.listens.is_some() && self.connects.is_some(), "it has `listens` and `connects`", "leave one out"),
        ];
        let missing = missing.into_iter().find(|(is_missing, ..)| *is_missing);
        let missing = missing.map(|(_, what, help)| format!("{what}\n  = help: {help}"));
        let place = self.listens.as_ref().and_then(Address::refused);
        let place =
            place.map(|why| format!("{why}\n  = help: listens = 5432, \"db.example:5432\" or \"192.0.2.1:5432\""));
        let later = self.later().into_iter().find(|(_, is_given, _)| *is_given);
        missing
            .or(place)
            .or_else(|| self.remote_wrong())
            .or_else(|| self.native_only())
            .or_else(|| self.unframed())
            .or_else(|| self.half_kept())
            .or_else(|| self.terms().err().map(|why| format!("`ignore`: {why}\n  = help: {IGNORE_HELP}")))
            .or_else(|| later.map(|(key, _, help)| format!("{} is not supported yet\n  = help: {help}", quoted(key))))
    }

    fn is_remote(&self) -> bool {
        self.outside == Some(Where::Remote)
    }

    /// Where it runs.
    pub fn runs(&self) -> Runs {
        match (self.outside, &self.listens) {
            (Some(Where::Remote), Some(Address::Host(host, port))) => Runs::Remote(host.clone(), *port),
            (Some(Where::Remote), Some(Address::Port(port))) => Runs::Remote("127.0.0.1".to_owned(), *port),
            (Some(Where::Native), _) => Runs::Native,
            _ => Runs::World,
        }
    }

    /// What cannot be said of a peer that somebody else has started, and what must be.
    fn remote_wrong(&self) -> Option<String> {
        let is_stream = matches!(self.listens, Some(Address::Host(..) | Address::Port(_)));
        let is_kept = !matches!(self.checkpoint, None | Some(Checkpoint::Restart));
        let is_set = !self.environment.is_empty() || self.working_dir.is_some() || self.user.is_some();
        let wrong = [
            (
                !self.command.is_empty(),
                "a remote peer is not started, and it has a `command`",
                "leave out `command`, or `outside`",
            ),
            (!is_stream, "a remote peer listens on a TCP port", "listens = \"db.example:5432\""),
            (
                is_set,
                "a remote peer is not started: it has no `environment`, `working_dir` or `user`",
                "leave them out",
            ),
            (
                is_kept || !self.save.is_empty(),
                "a remote peer cannot be kept: its connections begin again",
                "leave out `checkpoint` and `save`",
            ),
            (self.clock.is_some(), "a remote peer has its own clock", "leave out `clock`"),
            (
                self.framing.is_none(),
                "a remote peer needs a `framing`: when it has answered is known only by its messages",
                "framing = \"lines\", \"resp\", \"http\", \"length:4be\" or \"until-close\"",
            ),
        ];
        let wrong = wrong.into_iter().find(|(is_wrong, ..)| *is_wrong && self.is_remote());
        wrong.map(|(_, why, help)| format!("{why}\n  = help: {help}"))
    }

    /// What is said of a peer in a world of its own, and is meant for native ones.
    fn native_only(&self) -> Option<String> {
        let keys = [
            ("clock = \"real\"", self.clock == Some(Time::Real), "its clock is virtual"),
            ("ignore", !self.ignore.is_empty(), "it answers the same each time"),
            ("save", !self.save.is_empty(), "no command is needed to keep it"),
        ];
        let given = keys
            .into_iter()
            .find(|(_, is_given, _)| *is_given && !matches!(self.outside, Some(Where::Native | Where::Remote)));
        given.map(|(key, _, why)| {
            format!("`{key}` is for native peers; in a world of its own {why}\n  = help: outside = \"native\", or leave it out")
        })
    }

    /// Why messages cannot be told apart as it is said.
    fn unframed(&self) -> Option<String> {
        let is_datagram = matches!(self.listens, Some(Address::Udp(..)));
        if self.order == Some(Order::Any) && (is_datagram || self.framing.is_none()) {
            let help = if is_datagram { "leave it out: datagrams come in any order" } else { "framing = \"lines\"" };
            return Some(format!("`order = \"any\"` is for streams with a `framing`\n  = help: {help}"));
        }
        let name = self.framing.as_deref()?;
        match self.listens {
            Some(Address::Udp(..)) => {
                Some("`framing` is for streams; a datagram is a message\n  = help: leave it out".to_owned())
            }
            _ if Framing::read(name).is_none() => {
                Some(format!("`framing`: `{name}` is not known\n  = help: {FRAMINGS}"))
            }
            _ => None,
        }
    }

    /// What is wrong with the commands that keep it.
    fn half_kept(&self) -> Option<String> {
        let has_place = |words: &[String]| words.iter().any(|word| word.contains(PLACE));
        let wrong = [
            (self.save.is_empty() != self.restore.is_empty(), "it has only one of `save` and `restore`"),
            (
                !(self.save.is_empty() || has_place(&self.save) && has_place(&self.restore)),
                "`save` and `restore` do not say where: {place}",
            ),
            (!self.save.is_empty() && self.connects.is_some(), "`save` is for peers that listen"),
        ];
        let wrong = wrong.into_iter().find(|(is_wrong, _)| *is_wrong);
        wrong.map(|(_, why)| format!("{why}\n  = help: save = \"cp state {PLACE}\" and restore = \"cp {PLACE}/state state\", or leave both out"))
    }

    /// How it is driven.
    ///
    /// # Errors
    /// If `ignore` has what is no pattern.
    pub fn terms(&self) -> Result<Terms, String> {
        let default = Terms::default();
        Ok(Terms {
            strategy: self.checkpoint.map(Strategy::from).unwrap_or_default(),
            clock: self.clock.map(Clock::from).unwrap_or_default(),
            ignore: Ignore::new(&self.ignore)?,
            patience: self.patience.unwrap_or(default.patience),
            commands: (!self.save.is_empty())
                .then(|| Commands { save: self.save.clone(), restore: self.restore.clone() }),
            is_strict: self.strict == Some(true),
            framing: self.framing.as_deref().and_then(Framing::read),
            is_unordered: self.order == Some(Order::Any),
            is_independent: self.connections == Some(Connections::Independent),
        })
    }

    /// Keys that are known and not supported yet: whether they are given, and what to do instead.
    fn later(&self) -> [(&'static str, bool, &'static str); 4] {
        let is_native = self.outside == Some(Where::Native);
        [
            (
                "`connects` to anything but a TCP port of the local machine",
                self.connects.as_ref().is_some_and(|to| to.local_port().is_none()),
                "let the client be a program of the check instead, which is searched too: [check.NAME.service.client] with its `command`",
            ),
            (
                "`checkpoint` of a native peer",
                is_native && self.save.is_empty() && !matches!(self.checkpoint, None | Some(Checkpoint::Restart)),
                "leave it out: a native peer is started again; or give commands that keep it: `save` and `restore`",
            ),
            (
                "`connections = \"independent\"` of a client",
                self.connections == Some(Connections::Independent) && self.connects.is_some(),
                "leave it out: all connections of a client share one order",
            ),
            (
                "`user` of a native peer",
                is_native && self.user.is_some(),
                "leave out `outside`, or start it by a command that changes the user: setpriv, su",
            ),
        ]
    }
}

/// A key in backticks, unless it has some.
fn quoted(key: &str) -> String {
    if key.contains('`') { key.to_owned() } else { format!("`{key}`") }
}

/// Peers by name in files, where the short form is one text.
pub mod list {
    use super::Spec;
    use serde::de::{self, MapAccess, SeqAccess, Visitor};
    use serde::{Deserializer, Serializer};

    /// Writes peers by name.
    pub fn serialize<S: Serializer>(peers: &[Spec], file: S) -> Result<S::Ok, S::Error> {
        file.collect_map(peers.iter().map(|spec| (&spec.name, spec)))
    }

    /// Reads peers: by name, or a list of short forms.
    pub fn deserialize<'de, D: Deserializer<'de>>(file: D) -> Result<Vec<Spec>, D::Error> {
        file.deserialize_any(Peers)
    }

    struct Peers;

    impl<'de> Visitor<'de> for Peers {
        type Value = Vec<Spec>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a section for each peer, [check.NAME.peer.NAME]")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<Spec>, A::Error> {
            let mut peers = Vec::new();
            while let Some((name, spec)) = map.next_entry::<String, Spec>()? {
                peers.push(Spec { name, ..spec });
            }
            Ok(peers)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut texts: A) -> Result<Vec<Spec>, A::Error> {
            let mut peers = Vec::new();
            while let Some(text) = texts.next_element::<String>()? {
                peers.push(Spec::short(&text).map_err(de::Error::custom)?);
            }
            Ok(peers)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::ViewOptions;

    #[test]
    fn the_short_form_is_a_name_a_port_and_a_command() {
        let spec = Spec::short("db:6379=redis-server --save '' a=b").expect("a peer");
        assert_eq!((spec.name.as_str(), spec.listens.clone()), ("db", Some(Address::Port(6379))));
        assert_eq!(spec.command, ["redis-server", "--save", "", "a=b"]);
        assert_eq!(spec.refused(), None);
        for text in ["db", "db:6379", "db=redis", "db:x=redis", ":1=redis", "db:1= ", "db:1=a 'b"] {
            assert!(Spec::short(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_section_says_the_same_as_the_short_form_and_both_come_back_from_a_record() {
        let text = "[peer.db]\ncommand = \"redis-server --port 6379\"\nlistens = 6379\n";
        let view: ViewOptions = toml::from_str(text).expect("it is right");
        assert_eq!(view.peer, [Spec::short("db:6379=redis-server --port 6379").expect("a peer")]);
        let short: ViewOptions = toml::from_str("peer = [\"db:6379=redis-server --port 6379\"]").expect("it is right");
        assert_eq!(short, view);
        let kept = serde_json::to_value(&view).expect("it can be kept");
        assert_eq!(serde_json::from_value::<ViewOptions>(kept).expect("it comes back"), view);
    }

    #[test]
    fn what_is_not_supported_is_refused_by_name() {
        let table = [
            ("listens = 1", "no `command`"),
            ("command = \"a\"", "no `listens` and no `connects`"),
            ("command = \"a\"\nlistens = 1\nconnects = 2", "`listens` and `connects`"),
            ("command = \"a\"\nlistens = 1\nclock = \"real\"", "`clock = \"real\"` is for native peers"),
            ("command = \"a\"\nlistens = 1\nignore = [\"a\"]", "`ignore` is for native peers"),
            ("command = \"a\"\nlistens = 1\noutside = \"native\"\nignore = [\"(\"]", "`ignore`: `(`: "),
            (
                "command = \"a\"\nconnects = \"53/udp\"",
                "`connects` to anything but a TCP port of the local machine is not",
            ),
            ("command = \"a\"\nconnects = \"/run/s\"", "[check.NAME.service.client]"),
            ("command = \"a\"\nconnects = \"db.example:53\"", "[check.NAME.service.client]"),
            ("command = \"a\"\nconnects = 1\nconnections = \"independent\"", "of a client"),
            ("command = \"a\"\nlistens = 1\nframing = \"words\"", "`framing`: `words` is not known"),
            ("command = \"a\"\nlistens = \"1/udp\"\nframing = \"lines\"", "a datagram is a message"),
            ("command = \"a\"\nlistens = 1\norder = \"any\"", "is for streams with a `framing`"),
            ("command = \"a\"\nlistens = 1\noutside = \"native\"\nuser = \"postgres\"", "`user` of a native"),
            (
                "command = \"a\"\nlistens = 1\nsave = \"a {place}\"\nrestore = \"b {place}\"",
                "`save` is for native peers",
            ),
            ("command = \"a\"\nlistens = 1\noutside = \"native\"\nsave = \"a {place}\"", "only one of `save`"),
            ("command = \"a\"\nlistens = 1\noutside = \"native\"\nsave = \"a\"\nrestore = \"b\"", "{place}"),
            ("command = \"a\"\nlistens = 1\noutside = \"native\"\ncheckpoint = \"always\"", "`checkpoint` of a native"),
        ];
        for (text, why) in table {
            let spec: Spec = toml::from_str(text).expect("it can be read");
            let told = spec.refused().unwrap_or_default();
            assert!(told.contains(why) && told.contains("= help: "), "{text}: {told}");
        }
    }
}
