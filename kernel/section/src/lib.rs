//! Where a function lies in a kernel image.
#![forbid(unsafe_code)]

use proc_macro::TokenStream;

/// Places a function in `.init.text`: only boot calls it, and a machine may unmap it afterwards.
/// Of a generic function all instances lie there; a closure needs a function of its own.
///
/// The machine's linker script has to reject references from the code that stays.
#[proc_macro_attribute]
pub fn init(_: TokenStream, function: TokenStream) -> TokenStream {
    let place = "#[unsafe(link_section = \".init.text\")]".parse::<TokenStream>();
    let mut placed = place.expect("an attribute");
    placed.extend(function);
    placed
}
