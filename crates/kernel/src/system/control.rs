//! `prctl(2)`: switches of a process or thread.

use crate::call::{Call, Stop};
use crate::capability::Capability;
use crate::errno::{EFAULT, EINVAL, EPERM};
use crate::signal::number::LAST;

/// The highest `capabilities(7)`: `CAP_CHECKPOINT_RESTORE`.
const LAST_CAPABILITY: u64 = 40;

/// `prctl(2)`.
pub fn prctl(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [option, value, ..] = call.args;
    match option as u32 {
        1 => set_death_signal(call, value),
        2 => store(call, value, u32::from(call.process().controls.parent_death_signal)),
        3 => Ok(u64::from(call.process().controls.dumpable)),
        4 => set_dumpable(call, value),
        7 => Ok(u64::from(call.process().controls.keep_capabilities)),
        8 => set_keep_capabilities(call, value),
        15 => set_name(call, value),
        16 => get_name(call, value),
        // PR_GET_SECCOMP, PR_SET_SECCOMP: a kernel without.
        21 | 22 => Err(EINVAL.into()),
        23 => bounding(value, 1),
        24 => drop_bounding(call, value),
        // PR_GET_TSC: readable.
        25 => store(call, value, 1),
        26 if value == 1 => Ok(0),
        // PR_GET_SECUREBITS: none.
        27 => Ok(0),
        28 if value == 0 => Ok(0),
        29 => set_slack(call, value),
        30 => Ok(call.process().controls.timer_slack.0),
        36 => {
            call.process_mut().controls.subreaper = value != 0;
            Ok(0)
        }
        37 => store(call, value, u32::from(call.process().controls.subreaper)),
        38 => set_no_new_privileges(call),
        39 => Ok(u64::from(call.process().controls.no_new_privileges)),
        41 => {
            call.process_mut().controls.small_pages = value != 0;
            Ok(0)
        }
        42 => Ok(u64::from(call.process().controls.small_pages)),
        47 => ambient(call, value),
        // Speculation, shadow stacks, tags, names of memory: as on machines and kernels without them.
        40 | 50..=57 | 59..=62 | 65..=70 | 71.. => Err(EINVAL.into()),
        option => call.unsupported(format!("option {option}")),
    }
}

fn store(call: &mut Call<'_>, address: u64, value: u32) -> Result<u64, Stop> {
    call.store_u32(address, value)?;
    Ok(0)
}

fn set_death_signal(call: &mut Call<'_>, signal: u64) -> Result<u64, Stop> {
    if signal > u64::from(LAST) {
        return Err(EINVAL.into());
    }
    call.process_mut().controls.parent_death_signal = signal as u8;
    Ok(0)
}

fn set_dumpable(call: &mut Call<'_>, value: u64) -> Result<u64, Stop> {
    if value > 1 {
        return Err(EINVAL.into());
    }
    call.process_mut().controls.dumpable = value as u8;
    Ok(0)
}

fn set_keep_capabilities(call: &mut Call<'_>, value: u64) -> Result<u64, Stop> {
    if value > 1 {
        return Err(EINVAL.into());
    }
    call.process_mut().controls.keep_capabilities = value == 1;
    Ok(0)
}

/// Names have fifteen bytes; what is longer is cut.
fn set_name(call: &mut Call<'_>, address: u64) -> Result<u64, Stop> {
    let space = call.space();
    let name = call.memory.read_until_nul(space, address, 15).map_err(|_| EFAULT)?;
    call.thread_mut().name = name;
    Ok(0)
}

fn get_name(call: &mut Call<'_>, address: u64) -> Result<u64, Stop> {
    let mut bytes = [0; 16];
    let name = &call.thread().name;
    bytes[..name.len()].copy_from_slice(name);
    call.store(address, &bytes)?;
    Ok(0)
}

fn bounding(capability: u64, answer: u64) -> Result<u64, Stop> {
    if capability > LAST_CAPABILITY { Err(EINVAL.into()) } else { Ok(answer) }
}

fn drop_bounding(call: &Call<'_>, capability: u64) -> Result<u64, Stop> {
    bounding(capability, 0)?;
    if !call.can(Capability::Capabilities) {
        return Err(EPERM.into());
    }
    call.unsupported("a smaller bounding set of capabilities")
}

/// `PR_CAP_AMBIENT`: the set is empty, and may be asked and cleared.
fn ambient(call: &Call<'_>, command: u64) -> Result<u64, Stop> {
    match command {
        1 => bounding(call.args[2], 0),
        3 | 4 => Ok(0),
        2 => call.unsupported("ambient capabilities"),
        _ => Err(EINVAL.into()),
    }
}

/// Remembered, and told again; timers are exact here anyway. 0 goes back to what the creator had.
fn set_slack(call: &mut Call<'_>, value: u64) -> Result<u64, Stop> {
    let (slack, default) = &mut call.process_mut().controls.timer_slack;
    *slack = if value as i64 <= 0 { *default } else { value };
    Ok(0)
}

fn set_no_new_privileges(call: &mut Call<'_>) -> Result<u64, Stop> {
    if call.args[1..5] != [1, 0, 0, 0] {
        return Err(EINVAL.into());
    }
    call.process_mut().controls.no_new_privileges = true;
    Ok(0)
}
