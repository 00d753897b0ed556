//! A strict reader of XML 1.0, as far as reports need it, and the rules of the two schemas that readers of JUnit's files check.

/// An element.
#[derive(Debug, Default)]
pub struct Element {
    pub name: String,
    pub attributes: Vec<(String, String)>,
    pub children: Vec<Self>,
    pub text: String,
}

impl Element {
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// All elements of a name below this one.
    pub fn all<'a>(&'a self, name: &'a str) -> Vec<&'a Self> {
        let below = self.children.iter().flat_map(|child| child.all(name));
        self.children.iter().filter(|child| child.name == name).chain(below).collect()
    }
}

/// Reads a document, or says what is wrong with it.
pub fn parse(text: &str) -> Result<Element, String> {
    if let Some(wrong) = text.chars().find(|c| !is_char(*c)) {
        return Err(format!("{wrong:?} is no character of XML"));
    }
    let rest = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").ok_or("no declaration")?;
    let (root, rest) = element(rest.trim_start())?;
    if rest.trim().is_empty() { Ok(root) } else { Err(format!("after the end: {rest}")) }
}

fn is_char(c: char) -> bool {
    let control = c < ' ' && !"\t\n\r".contains(c);
    !control && c != '\u{fffe}' && c != '\u{ffff}'
}

fn element(text: &str) -> Result<(Element, &str), String> {
    let mut rest = text.strip_prefix('<').ok_or_else(|| format!("no element: {text:.40}"))?;
    let mut found = Element { name: name(&mut rest)?, ..Element::default() };
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix("/>") {
            return Ok((found, after));
        }
        if let Some(after) = rest.strip_prefix('>') {
            return content(found, after);
        }
        let key = name(&mut rest)?;
        let value = rest.strip_prefix("=\"").ok_or_else(|| format!("no value of {key}"))?;
        let (value, after) = value.split_once('"').ok_or("a value does not end")?;
        if found.attribute(&key).is_some() {
            return Err(format!("{key} twice"));
        }
        found.attributes.push((key, plain(value)?));
        rest = after;
    }
}

fn content(mut found: Element, mut rest: &str) -> Result<(Element, &str), String> {
    loop {
        let at = rest.find('<').ok_or_else(|| format!("<{}> does not end", found.name))?;
        found.text += &plain(&rest[..at])?;
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("</") {
            let after = after.strip_prefix(found.name.as_str()).and_then(|after| after.strip_prefix('>'));
            return after.map(|after| (found, after)).ok_or_else(|| format!("another end: {rest:.40}"));
        }
        let (child, after) = element(rest)?;
        found.children.push(child);
        rest = after;
    }
}

fn name(rest: &mut &str) -> Result<String, String> {
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-_".contains(c))).unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    *rest = after;
    if name.is_empty() { Err(format!("no name: {after:.40}")) } else { Ok(name.to_owned()) }
}

/// The text that references stand for.
fn plain(text: &str) -> Result<String, String> {
    if text.contains('<') || text.contains("]]>") {
        return Err(format!("markup in {text}"));
    }
    let mut pieces = text.split('&');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (reference, after) = piece.split_once(';').ok_or_else(|| format!("a bare & before {piece}"))?;
        out.push(match reference {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            "#9" => '\t',
            "#10" => '\n',
            "#13" => '\r',
            other => return Err(format!("&{other};")),
        });
        out += after;
    }
    Ok(out)
}

/// An element of JUnit's files: attributes that Ant's schema wants, others that Jenkins' one knows as well, and children in
/// their order, `*` for any number and `?` for one or none.
struct Rule {
    name: &'static str,
    required: &'static [&'static str],
    optional: &'static [&'static str],
    children: &'static [&'static str],
}

const SUITE: [&str; 9] = ["name", "package", "id", "timestamp", "hostname", "tests", "failures", "errors", "time"];

const RULES: [Rule; 10] = [
    Rule { name: "testsuites", required: &[], optional: &[], children: &["testsuite*"] },
    Rule {
        name: "testsuite",
        required: &SUITE,
        optional: &["skipped"],
        children: &["properties", "testcase*", "system-out", "system-err"],
    },
    Rule { name: "properties", required: &[], optional: &[], children: &["property*"] },
    Rule { name: "property", required: &["name", "value"], optional: &[], children: &[] },
    Rule {
        name: "testcase",
        required: &["name", "classname", "time"],
        optional: &[],
        children: &["skipped?", "error?", "failure?"],
    },
    Rule { name: "skipped", required: &[], optional: &[], children: &[] },
    Rule { name: "error", required: &["type"], optional: &["message"], children: &[] },
    Rule { name: "failure", required: &["type"], optional: &["message"], children: &[] },
    Rule { name: "system-out", required: &[], optional: &[], children: &[] },
    Rule { name: "system-err", required: &[], optional: &[], children: &[] },
];

/// What is wrong with a report by the rules of the schemas, and by its own numbers.
pub fn junit_errors(text: &str) -> Vec<String> {
    let root = match parse(text) {
        Ok(root) => root,
        Err(why) => return vec![why],
    };
    let mut wrong = Vec::new();
    if root.name != "testsuites" {
        wrong.push(format!("the root is {}", root.name));
    }
    check(&root, &mut wrong);
    root.all("testsuite").iter().for_each(|suite| numbers(suite, &mut wrong));
    wrong
}

fn check(element: &Element, wrong: &mut Vec<String>) {
    let Some(rule) = RULES.iter().find(|rule| rule.name == element.name) else {
        return wrong.push(format!("no schema knows <{}>", element.name));
    };
    for key in rule.required.iter().filter(|key| element.attribute(key).is_none()) {
        wrong.push(format!("<{}> without {key}", rule.name));
    }
    for (key, _) in &element.attributes {
        if !rule.required.contains(&key.as_str()) && !rule.optional.contains(&key.as_str()) {
            wrong.push(format!("<{}> with {key}", rule.name));
        }
    }
    let mut left = element.children.iter().map(|child| child.name.as_str()).peekable();
    for wanted in rule.children {
        let name = wanted.trim_end_matches(['*', '?']);
        let mut count = 0;
        while left.next_if(|child| *child == name).is_some() {
            count += 1;
        }
        let fits = if wanted.ends_with('*') { true } else { count <= 1 && (wanted.ends_with('?') || count == 1) };
        if !fits {
            wrong.push(format!("{count} of {name} in <{}>", rule.name));
        }
    }
    wrong.extend(left.map(|child| format!("<{child}> is out of place in <{}>", rule.name)));
    if element.name == "testcase" && element.children.len() > 1 {
        wrong.push("a test case has more than one result".to_owned());
    }
    element.children.iter().for_each(|child| check(child, wrong));
}

/// Numbers are numbers and count what is there; the time stamp is XML Schema's `dateTime` without a zone.
fn numbers(suite: &Element, wrong: &mut Vec<String>) {
    let counted = [("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")];
    for (key, name) in counted {
        let told = suite.attribute(key).and_then(|number| number.parse::<usize>().ok());
        if told != Some(suite.all(name).len()) {
            wrong.push(format!("{key} is {told:?}, and {} are there", suite.all(name).len()));
        }
    }
    // Ant's schema: a token of one letter or more.
    if suite.attribute("name").is_none_or(|name| name.trim().is_empty()) {
        wrong.push("the suite has no name".to_owned());
    }
    let is_time = |element: &&Element| element.attribute("time").is_some_and(|time| time.parse::<f64>().is_ok());
    if !is_time(&suite) || !suite.all("testcase").iter().all(is_time) {
        wrong.push("a time is no number".to_owned());
    }
    let stamp = suite.attribute("timestamp").unwrap_or_default();
    let shape: String = stamp.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    if shape != "0000-00-00T00:00:00" {
        wrong.push(format!("`{stamp}` is no time stamp"));
    }
}
