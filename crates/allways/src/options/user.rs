//! As whom a program runs, as users write it.

use serde::{Deserialize, Serialize};
use world::User;

/// A user: a name of `/etc/passwd`, or a number.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(untagged, expecting = "a user is a name of /etc/passwd, or a number")]
pub enum UserName {
    /// By number.
    Number(u32),
    /// By name.
    Name(String),
}

impl UserName {
    /// The user, as this machine knows it.
    pub fn find(&self) -> Result<User, String> {
        let read = |path: &str| std::fs::read_to_string(path).map_err(|error| format!("cannot read `{path}`: {error}"));
        self.find_in(&read("/etc/passwd")?, &read("/etc/group").unwrap_or_default())
    }

    /// A number that nobody has stands for itself, in the group of that number.
    fn find_in(&self, users: &str, groups: &str) -> Result<User, String> {
        let known = users.lines().find_map(|line| self.entry(line));
        match (known, self) {
            (Some((name, uid, gid)), _) => Ok(User { uid, gid, groups: groups_of(name, gid, groups) }),
            (None, Self::Number(number)) => Ok(User { uid: *number, gid: *number, groups: vec![*number] }),
            (None, Self::Name(name)) => Err(format!(
                "there is no user `{name}`\n  = help: user = \"NAME\" with a name of /etc/passwd, or a number"
            )),
        }
    }

    /// Name, user and group id of a line of `passwd(5)`, if it is this user's.
    fn entry<'a>(&self, line: &'a str) -> Option<(&'a str, u32, u32)> {
        let mut fields = line.split(':');
        let (name, _, uid, gid) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        let (uid, gid) = (uid.parse().ok()?, gid.parse().ok()?);
        let is_meant = match self {
            Self::Number(number) => *number == uid,
            Self::Name(meant) => meant == name,
        };
        is_meant.then_some((name, uid, gid))
    }
}

/// The groups of a user, as `initgroups(3)` finds them in the lines of `group(5)`.
fn groups_of(name: &str, own: u32, groups: &str) -> Vec<u32> {
    let member = |line: &str| {
        let fields: Vec<&str> = line.split(':').collect();
        let is_in = fields.get(3)?.split(',').any(|member| member == name);
        if is_in { fields.get(2)?.parse().ok() } else { None }
    };
    let mut all: Vec<u32> = groups.lines().filter_map(member).chain([own]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_has_the_groups_of_this_machine() {
        let users = "root:x:0:0:root:/root:/bin/sh\ndb:x:105:107::/:/bin/sh\n";
        let groups = "root:x:0:\nssl:x:30:web,db\ndb:x:107:\nother:x:200:dbx\n";
        let user = |uid, gid, groups: &[u32]| Ok(User { uid, gid, groups: groups.to_vec() });
        let find = |name: UserName| name.find_in(users, groups);
        assert_eq!(find(UserName::Name("db".into())), user(105, 107, &[30, 107]));
        assert_eq!(find(UserName::Number(105)), user(105, 107, &[30, 107]));
        assert_eq!(find(UserName::Number(4000)), user(4000, 4000, &[4000]));
        assert!(find(UserName::Name("nobody-here".into())).is_err_and(|why| why.contains("there is no user")));
    }
}
