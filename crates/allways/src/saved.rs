//! Counterexamples on disk: `.allways/<id>/counterexample.json`, and `.allways/latest` that names one.

use crate::careful;
use std::fs;
use std::path::{Path, PathBuf};
use trace::{Counterexample, ReadError};

/// The file in the folder of a counterexample.
const FILE: &str = "counterexample.json";
/// The file that names the newest one.
const LATEST: &str = "latest";

/// The folder with the saved counterexamples.
pub struct Saved {
    root: PathBuf,
}

/// An entry of the folder, broken or not.
pub struct Entry {
    /// Its name.
    pub id: String,
    /// What is in it.
    pub content: Result<Counterexample, ReadError>,
}

/// A folder that is there for the time being.
pub struct Prepared(Option<PathBuf>);

impl Drop for Prepared {
    fn drop(&mut self) {
        // Goes only if nothing is in it.
        let _ = self.0.take().map(fs::remove_dir);
    }
}

impl Saved {
    /// The folder of the current directory.
    pub fn here() -> Self {
        Self::at(".allways")
    }

    fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Makes the folder; it goes again with what is returned if nothing was put into it.
    pub fn prepare(&self) -> Prepared {
        let is_new = fs::create_dir(&self.root).is_ok();
        Prepared(is_new.then(|| self.root.clone()))
    }

    fn file(&self, id: &str) -> PathBuf {
        self.root.join(id).join(FILE)
    }

    /// Names a counterexample so that no other one is overwritten.
    pub fn name(&self, counterexample: &mut Counterexample) {
        let own = counterexample.fingerprint();
        counterexample.name_apart_from(|id| match read(&self.file(id)) {
            Ok(other) => other.fingerprint() != own,
            // A broken file is not worth keeping a name for; a missing one takes none.
            Err(_) => false,
        });
    }

    /// Saves a named counterexample and makes it the latest.
    ///
    /// # Errors
    /// With the cause and a way out: the disk is full, the folder is read-only.
    pub fn save(&self, counterexample: &Counterexample) -> Result<(), String> {
        let path = self.file(&counterexample.id);
        let write = || -> std::io::Result<()> {
            careful::folder(&self.root)?;
            careful::folder(path.parent().unwrap_or(&self.root))?;
            careful::replace(&path, report::counterexample_json(counterexample).as_bytes())?;
            careful::replace(&self.root.join(LATEST), format!("{}\n", counterexample.id).as_bytes())
        };
        write().map_err(|error| {
            // Goes only if nothing is in it.
            let _ = fs::remove_dir(path.parent().unwrap_or(&self.root));
            let shown = path.display();
            format!("cannot save the counterexample to {shown}: {error}\n  = help: --no-save leaves it out; run in a folder that can be written to keep it")
        })
    }

    /// Keeps a violation that could not be shown again, for a report of the bug; where.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub fn save_unconfirmed(&self, text: &str) -> std::io::Result<String> {
        careful::folder(&self.root)?;
        let path = self.root.join("unconfirmed.json");
        careful::replace(&path, text.as_bytes())?;
        Ok(path.display().to_string())
    }

    /// Everything in the folder, the newest last.
    pub fn entries(&self) -> Vec<Entry> {
        let Ok(folder) = fs::read_dir(&self.root) else { return Vec::new() };
        let folders = folder.flatten().filter(|entry| entry.path().is_dir());
        let mut ids: Vec<String> = folders.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        ids.sort();
        let mut entries: Vec<Entry> = ids.into_iter().map(|id| Entry { content: read(&self.file(&id)), id }).collect();
        entries.sort_by_key(|entry| entry.content.as_ref().map_or(0, |counterexample| counterexample.created));
        entries
    }

    /// The id of the latest counterexample.
    pub fn latest(&self) -> Option<String> {
        let id = careful::source(&self.root.join(LATEST)).ok()?;
        Some(id.trim().to_owned()).filter(|id| is_id(id))
    }

    /// Reads a counterexample by id, by the beginning of an id, or from a file; the latest if nothing is named.
    ///
    /// # Errors
    /// With the cause and a way out.
    pub fn find(&self, name: Option<&str>) -> Result<Counterexample, String> {
        let path = match name {
            None => {
                let id = self
                    .latest()
                    .ok_or("no counterexample is saved here\n  = help: `allways check -- CMD` or `allways check FILE.pml` finds one")?;
                self.file(&id)
            }
            Some(name) => self.path_of(name)?,
        };
        read(&path).map_err(|error| format!("cannot read the counterexample {}: {error}\n  = help: check again: `allways check` saves it anew; `allways ls` shows what is saved here", path.display()))
    }

    fn path_of(&self, name: &str) -> Result<PathBuf, String> {
        let as_path = Path::new(name);
        let is_folder = as_path.is_dir();
        // A device or a FIFO is refused where it is opened.
        if as_path.exists() && !is_folder {
            return Ok(as_path.to_owned());
        }
        if is_folder && as_path.join(FILE).is_file() {
            return Ok(as_path.join(FILE));
        }
        self.id_of(name).map(|id| self.file(&id))
    }

    /// The full id that a name stands for.
    fn id_of(&self, name: &str) -> Result<String, String> {
        let all: Vec<String> = self.entries().into_iter().map(|entry| entry.id).collect();
        if all.iter().any(|id| id == name) {
            return Ok(name.to_owned());
        }
        let matching: Vec<&String> = all.iter().filter(|id| !name.is_empty() && id.starts_with(name)).collect();
        match matching.as_slice() {
            [one] => Ok((*one).clone()),
            [] => Err(format!("no counterexample `{name}`\n  = help: allways ls shows those that are saved here")),
            many => {
                let ids: Vec<&str> = many.iter().map(|id| id.as_str()).collect();
                Err(format!("`{name}` may be {}", ids.join(" or ")))
            }
        }
    }

    /// Removes one.
    ///
    /// # Errors
    /// With the cause.
    pub fn remove(&self, name: &str) -> Result<String, String> {
        let id = self.id_of(name)?;
        let folder = self.root.join(&id);
        careful::real_folder(&self.root).map_err(|error| format!("cannot remove {}: {error}", folder.display()))?;
        fs::remove_dir_all(&folder).map_err(|error| format!("cannot remove {}: {error}", folder.display()))?;
        if self.latest().as_ref() == Some(&id) {
            let _ = fs::remove_file(self.root.join(LATEST));
        }
        Ok(id)
    }
}

fn read(path: &Path) -> Result<Counterexample, ReadError> {
    Counterexample::read(careful::open_regular(path).map_err(ReadError::Io)?)
}

fn is_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::*;

    fn sample(message: &str) -> Counterexample {
        Counterexample {
            version: VERSION,
            id: String::new(),
            created: 7,
            tool: "test".to_owned(),
            system: SystemRef::default(),
            property: PropertyRef { name: "p".to_owned(), kind: FailureKind::Ltl },
            message: message.to_owned(),
            location: None,
            fairness: false,
            schedule: Schedule::default(),
            trace: Trace::default(),
            final_state: Vec::new(),
            wait_for: Vec::new(),
            notes: Vec::new(),
            programs: None,
            is_driven: false,
        }
    }

    /// A folder of its own for each test.
    fn folder(name: &str) -> Saved {
        let root = std::env::temp_dir().join(format!("allways-saved-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        Saved::at(root)
    }

    fn save(saved: &Saved, message: &str) -> Counterexample {
        let mut sample = sample(message);
        saved.name(&mut sample);
        saved.save(&sample).expect("can be saved");
        sample
    }

    #[test]
    fn what_is_saved_is_found_by_id_prefix_path_or_as_the_latest() {
        let saved = folder("found");
        let first = save(&saved, "first");
        let second = save(&saved, "second");
        assert_eq!(saved.find(Some(&first.id)).as_ref(), Ok(&first));
        assert_eq!(saved.find(Some(&first.id[..3])).as_ref(), Ok(&first));
        let file = saved.file(&first.id);
        assert_eq!(saved.find(file.to_str()).as_ref(), Ok(&first));
        assert_eq!(saved.find(None), Ok(second));
        assert!(saved.find(Some("zzzz")).is_err_and(|why| why.contains("allways ls")));
        fs::remove_dir_all(saved.root).expect("cleans up");
    }

    #[test]
    fn finding_it_again_overwrites_it_and_another_one_gets_a_longer_name() {
        let saved = folder("clash");
        let first = save(&saved, "first");
        assert_eq!(save(&saved, "first").id, first.id);
        assert_eq!(saved.entries().len(), 1);
        // Another counterexample sits where this one would go.
        let mut second = sample("second");
        saved.name(&mut second);
        let mut squatter = first.clone();
        squatter.id = second.id.clone();
        saved.save(&squatter).expect("can be saved");
        let short = second.id.clone();
        saved.name(&mut second);
        assert_eq!((second.id.len(), &second.id[..4]), (5, short.as_str()));
        fs::remove_dir_all(saved.root).expect("cleans up");
    }

    #[test]
    fn a_broken_file_is_listed_and_can_be_removed() {
        let saved = folder("broken");
        let sample = save(&saved, "first");
        fs::write(saved.file(&sample.id), "{").expect("can be broken");
        let entries = saved.entries();
        assert!(entries.len() == 1 && entries[0].content.is_err());
        assert_eq!(saved.remove(&sample.id), Ok(sample.id));
        assert_eq!((saved.entries().len(), saved.latest()), (0, None));
        fs::remove_dir_all(saved.root).expect("cleans up");
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named() {
        let saved = Saved::at("/dev/null/nowhere");
        let mut sample = sample("first");
        saved.name(&mut sample);
        let why = saved.save(&sample).expect_err("cannot be saved");
        assert!(why.contains("/dev/null/nowhere") && why.contains("--no-save"), "{why}");
    }

    #[test]
    fn a_latest_that_points_elsewhere_is_not_followed() {
        let saved = folder("latest");
        save(&saved, "first");
        fs::write(saved.root.join(LATEST), "../../etc\n").expect("can be written");
        assert_eq!(saved.latest(), None);
        fs::remove_dir_all(saved.root).expect("cleans up");
    }
}
