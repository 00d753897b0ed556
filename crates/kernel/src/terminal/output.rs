//! Output processing: what programs write, and echo, on its way to the master.
//!
//! POSIX general terminal interface (XBD 11.2.3): `OPOST` switches all of it. The column is tracked
//! since `ONOCR`, tabs and the erasing of echoed characters depend on it.

use super::settings::{OCRNL, ONLCR, ONLRET, ONOCR, OPOST, XTABS};
use super::state::Terminal;

/// Columns between tab stops.
const TAB: usize = 8;

impl Terminal {
    /// One byte of output.
    pub(super) fn show(&mut self, byte: u8) {
        let modes = self.settings.output;
        if modes & OPOST == 0 {
            self.output.append(&[byte]);
            return;
        }
        match byte {
            b'\n' if modes & ONLCR != 0 => {
                self.column = 0;
                self.output.append(b"\r\n");
            }
            b'\n' => {
                self.column = if modes & ONLRET != 0 { 0 } else { self.column };
                self.output.append(b"\n");
            }
            b'\r' if modes & ONOCR != 0 && self.column == 0 => {}
            b'\r' if modes & OCRNL != 0 => self.output.append(b"\n"),
            b'\r' => {
                self.column = 0;
                self.output.append(b"\r");
            }
            b'\t' => self.show_tab(modes & XTABS == XTABS),
            0x08 => {
                self.column = self.column.saturating_sub(1);
                self.output.append(&[byte]);
            }
            byte => {
                self.column += usize::from(byte >= b' ' && byte != 0x7f);
                self.output.append(&[byte]);
            }
        }
    }

    fn show_tab(&mut self, expand: bool) {
        let width = TAB - self.column % TAB;
        self.column += width;
        if expand {
            self.output.append(&b"        "[..width]);
        } else {
            self.output.append(b"\t");
        }
    }

    /// Several bytes of output.
    pub(super) fn show_all(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.show(*byte));
    }
}
