//! Ctrl-C, SIGTERM and SIGHUP: the first asks the run to end and keeps what was drawn, the second ends the program.
//!
//! A process has one handler, so all that can be interrupted shares one control: the pilot and the chains after it. So a shutdown of the machine,
//! a scheduler's time limit and a closed terminal save a run as Ctrl-C does.

use std::sync::OnceLock;

use austerity::run::Control;

use crate::hangup;

/// The control that these signals stop. Where no handler can be set, Ctrl-C ends the program as usual.
pub(crate) fn control() -> Control {
    static CONTROL: OnceLock<Control> = OnceLock::new();
    let shared = CONTROL.get_or_init(|| {
        let control = Control::new();
        let on_signal = control.clone();
        hangup::respected(|| {
            let _ = ctrlc::set_handler(move || {
                if on_signal.stopped() {
                    std::process::exit(130);
                }
                on_signal.stop();
            });
        });
        control
    });
    shared.clone()
}
