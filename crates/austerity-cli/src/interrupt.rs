//! Ctrl-C: the first asks the run to end and keeps what was drawn, the second ends the program.

use austerity::run::Control;

/// A control that Ctrl-C stops. Where no handler can be set, Ctrl-C ends the program as usual.
pub(crate) fn control() -> Control {
    let control = Control::new();
    let on_signal = control.clone();
    let _ = ctrlc::set_handler(move || {
        if on_signal.stopped() {
            std::process::exit(130);
        }
        on_signal.stop();
    });
    control
}
