//! Machines that peers stand for. Each name has an address of its own, which the hosts file of the programs tells.

use crate::options::Address;
use std::net::Ipv4Addr;
use std::path::Path;
use trace::HostRef;
use world::host::DeclaredRoots;

/// The file that tells addresses of names (`hosts(5)`).
const HOSTS: &str = "/etc/hosts";

/// The first address of a name: `10.99.0.1`.
const FIRST: u32 = 0x0a63_0001;

/// Names of machines with their addresses, in the order of declaration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Machines(pub Vec<(String, Ipv4Addr)>);

impl Machines {
    /// Where programs find a peer; a name is given an address when it is first met.
    pub fn find(&mut self, address: &Address) -> ::peer::Address {
        let machine = address.machine().map(|host| self.address(host));
        match (address, machine) {
            (Address::Port(port) | Address::Host(_, port), None) => ::peer::Address::Port(*port),
            (Address::Port(port) | Address::Host(_, port), Some(machine)) => ::peer::Address::Machine(machine, *port),
            (Address::Udp(_, port), machine) => ::peer::Address::Udp(machine.unwrap_or(Ipv4Addr::LOCALHOST), *port),
            (Address::Path(path), _) => ::peer::Address::Path(path.clone()),
        }
    }

    fn address(&mut self, host: &str) -> Ipv4Addr {
        let known = self.0.iter().find(|(name, _)| name.eq_ignore_ascii_case(host)).map(|(_, address)| *address);
        host.parse().ok().or(known).unwrap_or_else(|| {
            let address = Ipv4Addr::from(FIRST + self.0.len() as u32);
            self.0.push((host.to_owned(), address));
            address
        })
    }

    /// The same names, all of the local machine.
    pub fn local(self) -> Self {
        Self(self.0.into_iter().map(|(name, _)| (name, Ipv4Addr::LOCALHOST)).collect())
    }

    /// A host whose hosts file tells the names, besides what it tells already.
    pub fn told_by(&self, host: DeclaredRoots) -> DeclaredRoots {
        if self.0.is_empty() {
            return host;
        }
        let known = std::fs::read(HOSTS).unwrap_or_default();
        host.with_file(Path::new(HOSTS), self.hosts(&String::from_utf8_lossy(&known)).as_bytes())
    }

    /// The text of the hosts file. Our names are taken from other lines: one name must not have two addresses.
    fn hosts(&self, known: &str) -> String {
        let is_ours = |word: &&str| self.0.iter().any(|(name, _)| name.eq_ignore_ascii_case(word));
        let line =
            |line: &str| match line.split('#').next().unwrap_or_default().split_whitespace().any(|word| is_ours(&word))
            {
                false => format!("{line}\n"),
                true => line.split_whitespace().filter(|word| !is_ours(word)).collect::<Vec<_>>().join(" ") + "\n",
            };
        let ours = self.0.iter().map(|(name, address)| format!("{address} {name}\n"));
        ours.chain(known.lines().map(line)).collect()
    }

    /// As a counterexample keeps them.
    pub fn record(&self) -> Vec<HostRef> {
        let host = |(name, address): &(String, Ipv4Addr)| HostRef { name: name.clone(), address: address.to_string() };
        self.0.iter().map(host).collect()
    }

    /// As a counterexample has them; anybody may have written it.
    pub fn recorded(hosts: &[HostRef]) -> Result<Self, String> {
        let host = |host: &HostRef| {
            let address = host.address.parse().ok().filter(|_| Address::is_name(&host.name));
            address.map(|address| (host.name.clone(), address))
        };
        let hosts: Option<Vec<_>> = hosts.iter().map(host).collect();
        hosts.map(Self).ok_or_else(|| "the counterexample names a machine that cannot be".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_address_and_a_number_is_its_own() {
        let mut machines = Machines::default();
        let mut find = |text: &str| machines.find(&Address::read(text).expect("an address"));
        let machine = |last, port| ::peer::Address::Machine([10, 99, 0, last].into(), port);
        assert_eq!([find("db:1"), find("web:2"), find("DB:3")], [machine(1, 1), machine(2, 2), machine(1, 3)]);
        assert_eq!(find("192.0.2.1:4"), ::peer::Address::Machine([192, 0, 2, 1].into(), 4));
        assert_eq!([find("localhost:5"), find("6")], [5, 6].map(::peer::Address::Port));
        let udp = |machine: [u8; 4], port| ::peer::Address::Udp(machine.into(), port);
        assert_eq!([find("53/udp"), find("db:53/udp")], [udp([127, 0, 0, 1], 53), udp([10, 99, 0, 1], 53)]);
        assert_eq!(Machines::recorded(&machines.record()), Ok(machines));
        assert!(Machines::recorded(&[HostRef { name: "a b".into(), address: "1.2.3.4".into() }]).is_err());
    }

    #[test]
    fn the_lines_of_the_host_are_kept_but_for_our_names() {
        let machines = Machines(vec![("db".to_owned(), [10, 99, 0, 1].into())]);
        let known = "127.0.0.1 localhost\n10.1.1.1 a DB b\n# db\n";
        assert_eq!(machines.hosts(known), "10.99.0.1 db\n127.0.0.1 localhost\n10.1.1.1 a b\n# db\n");
    }
}
