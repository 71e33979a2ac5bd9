//! Runs a program over one frame inside the kernel, without an interface (BPF_PROG_TEST_RUN): what would become of
//! this frame? Attaches nothing, sends nothing.

use super::refusal::Refusal;
use super::{QueueCounters, RxOptions, quiet, trouble};
use crate::finding::Finding;
use libbpf_rs::{MapCore, MapFlags, Object, ObjectBuilder, OpenObject, ProgramInput};
use xdp_prog::{
    COUNTERS, COUNTERS_MAP, Config, PASS_PROGRAM, RX_PROGRAM, SHAPES_SECTION, Shape, shapes_to_bytes,
};

/// Which program to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestProgram {
    /// The receive program. The frame arrives on queue 0, which has no socket.
    Rx(RxOptions),
    /// The program that passes everything.
    Pass,
}

/// What a program did with a frame: `enum xdp_action`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Dropped, and reported as an error of the program.
    Aborted,
    /// Dropped.
    Drop,
    /// Given to the stack.
    Pass,
    /// Sent back out of the same interface.
    Tx,
    /// Sent to a socket, a device or a CPU.
    Redirect,
}

impl From<u32> for Action {
    fn from(verdict: u32) -> Self {
        match verdict {
            1 => Self::Drop,
            2 => Self::Pass,
            3 => Self::Tx,
            4 => Self::Redirect,
            // The kernel takes every number that it does not know for XDP_ABORTED.
            _ => Self::Aborted,
        }
    }
}

/// What became of one frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestRun {
    /// The program's verdict.
    pub action: Action,
    /// The frame as the program left it.
    pub bytes: Vec<u8>,
    /// What this frame added to the counters.
    pub counters: QueueCounters,
}

/// A program loaded for dry runs.
#[derive(Debug)]
pub struct DryRun {
    object: Object,
    program: &'static str,
}

/// The kernel copies frames out of a page with 256 bytes of headroom, so no run makes one longer by more.
const HEADROOM_BYTES: usize = 256;

impl DryRun {
    /// Loads the program.
    ///
    /// # Errors
    /// As [`super::RxProgram::load`].
    pub fn load(program: TestProgram) -> Result<Self, Finding> {
        quiet();
        let (program, config, shapes) = match program {
            TestProgram::Rx(options) => (RX_PROGRAM, options.config(), options.shapes),
            TestProgram::Pass => (PASS_PROGRAM, Config::default(), Vec::new()),
        };
        let failed = |error: libbpf_rs::Error| trouble::load(program, &Refusal::new(&error), None);
        let mut object = ObjectBuilder::default().open_memory(xdp_prog::object()).map_err(failed)?;
        configure(&mut object, config, &shapes).map_err(failed)?;
        object.progs_mut().for_each(|mut other| {
            let wanted = other.name() == program;
            other.set_autoload(wanted);
        });
        object.load().map(|object| Self { object, program }).map_err(failed)
    }

    /// Runs the program once over `frame`, which begins with the destination MAC, has no FCS, and is at least 14
    /// bytes long.
    ///
    /// # Errors
    /// `System` when the kernel does not run it: a frame too short, or too long for the kernel's test buffer.
    pub fn run(&mut self, frame: &[u8]) -> Result<TestRun, Finding> {
        let on = format!("{} bytes", frame.len());
        let failed =
            |error: libbpf_rs::Error| trouble::map(&*on, "the frame was not run", &Refusal::new(&error));
        let before = self.counters()?;
        let mut bytes = vec![0; frame.len() + HEADROOM_BYTES];
        let input =
            ProgramInput { data_in: Some(frame), data_out: Some(&mut bytes), ..ProgramInput::default() };
        let program = self.object.progs_mut().find(|program| program.name() == self.program);
        let output =
            program.ok_or_else(|| trouble::not_in_object(self.program))?.test_run(input).map_err(failed)?;
        let action = Action::from(output.return_value);
        let left = output.data.map_or(0, |data| data.len());
        bytes.truncate(left);
        Ok(TestRun { action, bytes, counters: self.counters()? - before })
    }

    /// The sum over CPUs and queues.
    fn counters(&self) -> Result<QueueCounters, Finding> {
        let map = self.object.maps().find(|map| map.name() == COUNTERS_MAP);
        let map = map.ok_or_else(|| trouble::not_in_object(COUNTERS_MAP))?;
        let failed = |error: libbpf_rs::Error| {
            trouble::map(COUNTERS_MAP, "they cannot be read", &Refusal::new(&error))
        };
        // The kernel runs a dry run on queue 0 of the loopback interface.
        let cpus = map.lookup_percpu(&0_u32.to_ne_bytes(), MapFlags::ANY).map_err(failed)?;
        Ok(cpus.unwrap_or_default().iter().map(|row| row_of(row)).sum())
    }
}

/// What would become of `frame`: loads, runs once, unloads.
///
/// # Errors
/// As [`DryRun::load`] and [`DryRun::run`].
pub fn verdict(program: TestProgram, frame: &[u8]) -> Result<TestRun, Finding> {
    DryRun::load(program)?.run(frame)
}

/// Writes the configuration and the shapes, each the whole of its section.
fn configure(object: &mut OpenObject, config: Config, shapes: &[Shape]) -> libbpf_rs::Result<()> {
    for mut map in object.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if name.ends_with(".rodata") {
            map.set_initial_value(&config.to_bytes())?;
        } else if name == SHAPES_SECTION {
            map.set_initial_value(&shapes_to_bytes(shapes))?;
        }
    }
    Ok(())
}

fn row_of(bytes: &[u8]) -> QueueCounters {
    let mut row = [0_u64; COUNTERS];
    let words = bytes.chunks_exact(size_of::<u64>()).filter_map(|word| word.try_into().ok());
    row.iter_mut().zip(words).for_each(|(counter, word)| *counter = u64::from_ne_bytes(word));
    row.into()
}
