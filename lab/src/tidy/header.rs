//! The header of what programs in C agree on with the kernel: made from the crate `abi`, so that
//! each number stands in one place. Enumerations, with their codes, and all comments are read from
//! the crate's source; the values of constants are its own.

use super::Finding;
use abi::call::Call;
use abi::device::{adc, can, encoder, gpio, pwm};
use abi::uses::{self, Wants};
use abi::{Info, Rights, Status, answer, call, futex, message, reservation};
use anyhow::{Context, Result};
use fs_err as fs;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use syn::visit::Visit;

/// The header, from the root of the work tree.
pub const PATH: &str = "user/c/include/giusto/abi.h";
/// Makes it anew.
const MEND: &str = "run: ./giusto c --header > user/c/include/giusto/abi.h";
/// How the header begins.
const BEGINNING: &str = "\
/**
 * What the kernel and programs agree on. Generated from the crate `abi`: do not edit, but run
 * `./giusto c --header`.
 */
#ifndef GIUSTO_ABI_H
#define GIUSTO_ABI_H

#include <stdint.h>
";
/// What stands before the list of slots that calls are given.
const USES: &str = "
/**
 * `X(call, word, shift, wants, kinds, rights)` for each slot that a call is given, in the order in
 * which the kernel looks at them. It stands in one of three words that say what a call is about, so
 * far left. `wants`: 0, a capability of one of these kinds (a bit each; 0: any) with these rights;
 * 1, an empty slot; 2, an empty slot of another domain.
 */
";
/// What stands before the list of what calls use up.
const SPENDS: &str = "
/** `X(call, resource)` for each resource that a call uses up. */
";
/// Columns of a comment.
const COLUMNS: usize = 100;
/// Enumerations whose variants have names at run time.
const NAMED: [&str; 4] = ["Call", "Error", "Kind", "Resource"];

/// Files of the crate that are read.
const FILES: [&str; 10] = [
    "answer",
    "call",
    "device",
    "error",
    "futex",
    "lib",
    "message",
    "object",
    "reservation",
    "rights",
];

/// Enumerations whose variants have codes: the file of the crate, the name.
const ENUMERATIONS: [(&str, &str); 16] = [
    ("call", "Call"),
    ("call", "Timeout"),
    ("call", "Fact"),
    ("call", "Table"),
    ("call", "Setting"),
    ("call", "Observe"),
    ("call", "ThreadState"),
    ("call", "Awaited"),
    ("error", "Error"),
    ("futex", "Scope"),
    ("message", "FaultKind"),
    ("object", "Kind"),
    ("object", "Resource"),
    ("reservation", "Inheritance"),
    ("reservation", "Policy"),
    ("reservation", "Server"),
];

/// A constant: the file of the crate, what comes before its name in C, its name, its value.
type Constant = (&'static str, &'static str, &'static str, u64);

/// Constants of a file under a prefix, by their paths.
macro_rules! constants {
    ($($file:literal, $prefix:literal: $($($part:ident)::+),+;)+) => {
        &[$($(($file, $prefix, last(stringify!($($part)::+)), value!($($part)::+))),+),+]
    };
}

/// The value of a constant, whatever its type.
macro_rules! value {
    (Rights::$name:ident) => {
        Rights::$name.0 as u64
    };
    (Status::OK) => {
        Status::OK.0
    };
    ($($part:ident)::+) => {
        $($part)::+ as u64
    };
}

const CONSTANTS: &[Constant] = constants! {
    "lib", "": abi::PAGE, abi::USER_TOP, abi::PRIORITIES;
    "call", "": call::RESTARTED, call::NOTHING, call::REPLY, call::SEND_TIMEOUT_SHIFT,
        call::RECEIVE_TIMEOUT_SHIFT, call::RECEIVE_SLOT_SHIFT, call::MAP_RIGHTS_SHIFT,
        call::BLOCK_WORDS, call::NO_SLICE;
    "call", "FAULT_": call::fault::RETRY, call::fault::CONTINUE, call::fault::SUSPEND;
    "call", "EXCHANGE_": call::exchange::INSTRUCTION, call::exchange::STACK,
        call::exchange::ARGUMENT, call::exchange::THREAD, call::exchange::CANCEL;
    "futex", "FUTEX_": futex::WAITERS, futex::OWNER_DIED, futex::SCOPE_SHIFT, futex::NO_CEILING,
        futex::HELPERS;
    "message", "": message::REGISTER_WORDS, message::MAX_WORDS, message::BUFFER_WORDS,
        message::BUFFER_SEND_SLOT, message::BUFFER_SEND_RIGHTS, message::BUFFER_RECEIVE_SLOT,
        message::PANIC, message::PANIC_RANGE, message::PANIC_STATUS;
    "message", "INFO_": Info::LENGTH, Info::LABEL_SHIFT, Info::CAPABILITY, Info::NOTIFICATION,
        Info::FAULT;
    "error", "STATUS_": Status::OK, Status::RECEIVE;
    "rights", "RIGHTS_": Rights::NONE, Rights::SEND, Rights::RECEIVE, Rights::GRANT, Rights::READ,
        Rights::WRITE, Rights::EXECUTE, Rights::CONTROL, Rights::COPY, Rights::REVOKE,
        Rights::DESTROY, Rights::RESERVE, Rights::DIVIDE, Rights::PHYSICAL, Rights::ALL;
    "reservation", "": reservation::LEVELS, reservation::WHOLE, reservation::LONGEST,
        reservation::SHORTEST, reservation::SHORTEST_WINDOW, reservation::LEAST_BUDGET,
        reservation::LEAST_PART, reservation::WINDOWS, reservation::UNSERVED;
    "answer", "ANSWER_": answer::DONE, answer::REFUSED, answer::UNKNOWN, answer::NOT_SENT;
    "device", "PWM_": pwm::PERIOD, pwm::DUTY, pwm::CONTROL, pwm::STATUS, pwm::ON, pwm::INTERRUPT,
        pwm::ENDED, pwm::SHORTEST, pwm::LONGEST;
    "device", "ADC_": adc::CONTROL, adc::STATUS, adc::RESULT, adc::START, adc::INTERRUPT, adc::DONE,
        adc::BUSY, adc::GREATEST, adc::TIME;
    "device", "ENCODER_": encoder::CONTROL, encoder::STATUS, encoder::COUNT, encoder::EVERY,
        encoder::INTERRUPT, encoder::MOVED;
    "device", "GPIO_": gpio::OUT, gpio::IN, gpio::DRIVEN, gpio::RISES, gpio::FALLS, gpio::EDGES,
        gpio::PINS;
    "device", "CAN_": can::CONTROL, can::STATUS, can::SEND_ID, can::SEND_LEN, can::SEND_DATA,
        can::ID, can::LEN, can::DATA, can::NEXT, can::SEND, can::INTERRUPT, can::SENDING,
        can::RECEIVED, can::LOST, can::ROOM, can::BIT, can::BITS, can::BYTES;
};

/// The last part of a path.
const fn last(path: &'static str) -> &'static str {
    let mut at = path.len();
    while at > 0 && !matches!(path.as_bytes()[at - 1], b':' | b' ') {
        at -= 1;
    }
    path.split_at(at).1
}

/// Checks that the header in a work tree is the one that is made.
pub fn check(root: &Path) -> Result<Option<Finding>> {
    let there = fs::read_to_string(root.join(PATH)).unwrap_or_default();
    let made = text(root)?;
    let same = there.lines().zip(made.lines()).take_while(|(there, made)| there == made).count();
    let what = "it is not what the crate `abi` says";
    Ok((there != made).then(|| Finding::new(PATH, same + 1, what, MEND)))
}

/// The header, made from the crate in a work tree.
pub fn text(root: &Path) -> Result<String> {
    let mut text = String::from(BEGINNING);
    let mut files = BTreeMap::new();
    for file in FILES {
        files.insert(file, Items::read(root, file)?);
    }
    for (file, name) in ENUMERATIONS {
        let found = files[file].enumerations.iter().find(|item| item.ident == name);
        let found =
            found.with_context(|| format!("abi/src/{file}.rs has no enumeration {name}"))?;
        enumeration(&mut text, found)?;
    }
    for (file, prefix, name, value) in CONSTANTS {
        let documented = files[file].constants.iter().find(|it| it.is(prefix, name));
        let documented =
            documented.with_context(|| format!("abi/src/{file}.rs has no constant {name}"))?;
        text.push('\n');
        text.push_str(&commented(&documented.comment, ""));
        writeln!(text, "#define GIUSTO_{prefix}{name} {}", literal(*value))?;
    }
    text.push_str(&uses());
    text.push_str("\n#endif\n");
    Ok(text)
}

/// The codes of an enumeration of the crate in a work tree, with its variants.
pub fn codes(root: &Path, name: &str) -> Result<Vec<(u64, String)>> {
    let (file, _) = ENUMERATIONS.iter().find(|(_, known)| *known == name).context("it is known")?;
    let items = Items::read(root, file)?;
    let item = items.enumerations.iter().find(|item| item.ident == name).context("it is there")?;
    item.variants
        .iter()
        .map(|one| Ok((code(item, one)?.base10_parse()?, one.ident.to_string())))
        .collect()
}

/// The code of a variant.
fn code<'a>(item: &syn::ItemEnum, variant: &'a syn::Variant) -> Result<&'a syn::LitInt> {
    let code = variant.discriminant.as_ref().map(|(_, code)| code);
    let Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(code), .. })) = code else {
        anyhow::bail!("{} of {} has no code that is a number", variant.ident, item.ident);
    };
    Ok(code)
}

/// What calls do with slots and quotas, as lists.
fn uses() -> String {
    let call = |call: Call| format!("GIUSTO_CALL_{}", snake(&format!("{call:?}")).to_uppercase());
    let mut rows = String::new();
    for (one, used) in Call::ALL.iter().flat_map(|one| uses::uses(*one).iter().map(|it| (*one, it)))
    {
        let (wants, kinds, rights) = match used.wants {
            Wants::Capability(kinds, rights) => (0, kinds, rights),
            Wants::Empty => (1, &[][..], Rights::NONE),
            Wants::EmptyThere => (2, &[][..], Rights::NONE),
        };
        let kinds = kinds.iter().fold(0, |set, kind| set | 1 << *kind as u32);
        let (word, shift, rights) = (used.word, used.shift, rights.0);
        let call = call(one);
        rows += &format!(" \\\n    X({call}, {word}, {shift}, {wants}, {kinds:#x}, {rights})");
    }
    let mut spent = String::new();
    for one in Call::ALL {
        for resource in uses::resources(one) {
            let resource = format!("GIUSTO_RESOURCE_{}", resource.name().to_uppercase());
            spent += &format!(" \\\n    X({}, {resource})", call(one));
        }
    }
    format!("{USES}#define GIUSTO_USES(X){rows}\n{SPENDS}#define GIUSTO_SPENDS(X){spent}\n")
}

fn enumeration(text: &mut String, item: &syn::ItemEnum) -> Result<()> {
    let name = snake(&item.ident.to_string());
    let prefix = format!("GIUSTO_{}", name.to_uppercase());
    text.push('\n');
    text.push_str(&commented(&comment(&item.attrs), ""));
    writeln!(text, "enum giusto_{name} {{")?;
    for variant in &item.variants {
        let code = code(item, variant)?;
        text.push_str(&commented(&comment(&variant.attrs), "    "));
        let variant = snake(&variant.ident.to_string()).to_uppercase();
        writeln!(text, "    {prefix}_{variant} = {},", code.base10_digits())?;
    }
    text.push_str("};\n");
    if NAMED.iter().any(|named| item.ident == named) {
        let row = |variant: &syn::Variant| {
            let name = variant.ident.to_string();
            format!(" \\\n    X({prefix}_{}, {name})", snake(&name).to_uppercase())
        };
        writeln!(text, "\n/** `X(constant, name)` for each one of `enum giusto_{name}`. */")?;
        let rows: String = item.variants.iter().map(row).collect();
        writeln!(text, "#define {prefix}S(X){rows}")?;
    }
    Ok(())
}

/// What a file of the crate declares.
#[derive(Default)]
struct Items {
    enumerations: Vec<syn::ItemEnum>,
    /// Public constants.
    constants: Vec<Declared>,
    /// The module inside the file that is read.
    module: Option<String>,
}

/// A public constant of a file.
struct Declared {
    /// The module inside the file.
    module: Option<String>,
    name: String,
    comment: String,
}

impl Declared {
    /// Whether it has this name in C. Constants of a module have its name before theirs.
    fn is(&self, prefix: &str, name: &str) -> bool {
        let module = self.module.as_ref().map(|module| format!("{}_", module.to_uppercase()));
        self.name == name && module.is_none_or(|module| module == prefix)
    }
}

impl Items {
    fn read(root: &Path, file: &str) -> Result<Items> {
        let text = fs::read_to_string(root.join(format!("abi/src/{file}.rs")))?;
        let mut items = Items::default();
        items.visit_file(&syn::parse_file(&text)?);
        Ok(items)
    }

    fn constant(&mut self, public: &syn::Visibility, name: &syn::Ident, attrs: &[syn::Attribute]) {
        if matches!(public, syn::Visibility::Public(_)) {
            let (module, name) = (self.module.clone(), name.to_string());
            self.constants.push(Declared { module, name, comment: comment(attrs) });
        }
    }
}

impl<'ast> Visit<'ast> for Items {
    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.enumerations.push(item.clone());
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let outer = self.module.replace(item.ident.to_string());
        syn::visit::visit_item_mod(self, item);
        self.module = outer;
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.constant(&item.vis, &item.ident, &item.attrs);
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.constant(&item.vis, &item.ident, &item.attrs);
    }
}

/// The documentation of an item, without its links.
fn comment(attributes: &[syn::Attribute]) -> String {
    let line = |attribute: &syn::Attribute| match &attribute.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    };
    let lines: Vec<String> = attributes.iter().filter_map(line).collect();
    let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    let mut rest = lines.join(" ");
    let mut plain = String::new();
    while let Some((before, link)) = rest.split_once("[`") {
        let Some((name, behind)) = link.split_once("`]") else { break };
        plain.push_str(&format!("{before}`{name}`"));
        let target = behind.strip_prefix('(').and_then(|target| target.split_once(')'));
        rest = target.map_or(behind, |(_, behind)| behind).to_string();
    }
    plain + &rest
}

/// A comment in C.
fn commented(comment: &str, indent: &str) -> String {
    let line = format!("{indent}/** {comment} */\n");
    if line.trim_end().chars().count() <= COLUMNS {
        return line;
    }
    let further = format!("{indent} * ");
    let options = textwrap::Options::new(COLUMNS).initial_indent(&further);
    let options = options.subsequent_indent(&further).break_words(false);
    format!("{indent}/**\n{}\n{indent} */\n", textwrap::fill(comment, options))
}

/// `ThreadState` as `thread_state`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// A number in C, of a type that holds it.
fn literal(value: u64) -> String {
    match value {
        0..0x8000_0000 => value.to_string(),
        0x8000_0000..=0xffff_ffff => format!("UINT32_C({value:#x})"),
        _ => format!("UINT64_C({value:#x})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn no_constant_is_left_out() {
        for file in FILES.into_iter().filter(|file| *file != "object") {
            let read = Items::read(workspace::root(), file).unwrap();
            let Items { constants, enumerations, .. } = read;
            for constant in constants {
                // Lists of several are for Rust.
                let known = CONSTANTS.iter().any(|it| it.0 == file && constant.is(it.1, it.2));
                let is_list = ["ALL", "COMMON"].contains(&constant.name.as_str());
                assert!(known || is_list, "{file}: {}", constant.name);
            }
            // What carries values has no codes of its own.
            let has_codes = |item: &syn::ItemEnum| {
                item.variants.iter().all(|variant| matches!(variant.fields, syn::Fields::Unit))
            };
            for item in enumerations.into_iter().filter(has_codes) {
                let name = item.ident.to_string();
                assert!(ENUMERATIONS.contains(&(file, name.as_str())), "{file}: {name}");
            }
        }
    }

    #[test]
    fn items_become_c() {
        let item = "/// A state, see [`Table::Thread`](x) and [`ALL`].\npub enum ThreadState {\n\
                    /// Ready.\nReady = 1,\n/// Later.\nNotYet = 0x2 }";
        let mut text = String::new();
        enumeration(&mut text, &syn::parse_str(item).unwrap()).unwrap();
        let wanted = [
            "",
            "/** A state, see `Table::Thread` and `ALL`. */",
            "enum giusto_thread_state {",
            "    /** Ready. */",
            "    GIUSTO_THREAD_STATE_READY = 1,",
            "    /** Later. */",
            "    GIUSTO_THREAD_STATE_NOT_YET = 2,",
            "};",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), wanted);
        let without = syn::parse_str("pub enum E { A = 1 << 2 }").unwrap();
        assert!(enumeration(&mut text, &without).is_err());
        assert_eq!(literal(7), "7");
        assert_eq!(literal(u64::from(u32::MAX)), "UINT32_C(0xffffffff)");
        assert_eq!(literal(1 << 63), "UINT64_C(0x8000000000000000)");
        assert!(commented(&"word ".repeat(50), "    ").lines().all(|line| line.len() <= COLUMNS));
    }

    #[test]
    fn a_header_that_differs_is_found() {
        assert_eq!(check(workspace::root()).unwrap(), None);
        let place = tempfile::tempdir().unwrap();
        let source = place.path().join("abi/src");
        fs::create_dir_all(&source).unwrap();
        for file in fs::read_dir(workspace::root().join("abi/src")).unwrap() {
            let file = file.unwrap();
            if file.path().is_dir() {
                continue;
            }
            fs::copy(file.path(), source.join(file.file_name())).unwrap();
        }
        assert_eq!(check(place.path()).unwrap().unwrap().line, 1);
        let error = fs::read_to_string(source.join("error.rs")).unwrap();
        let changed = error.replace("Stale = 5", "Stale = 50");
        fs::write(source.join("error.rs"), changed).unwrap();
        let made = text(place.path()).unwrap();
        assert!(made.contains("GIUSTO_ERROR_STALE = 50,"), "it follows the source");
    }
}
