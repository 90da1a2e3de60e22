//! What a trait says about a service, and what it may not say.

use proc_macro2::Ident;
use quote::{ToTokens, format_ident};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Error, FnArg, ItemTrait, Pat, Result, ReturnType, Signature, TraitItem};
use syn::{TraitItemFn, Type, Visibility, parse_quote};

/// Names that the client or the server has methods of.
const TAKEN: [&str; 10] = [
    "dispatch",
    "serve",
    "new",
    "slot",
    "within",
    "wait",
    "with_buffer",
    "accepting",
    "longest",
    "capabilities",
];

/// The attribute of a method that is sent, not called.
pub const ONE_WAY: &str = "one_way";

/// A service.
pub struct Contract {
    /// The trait.
    pub name: Ident,
    /// The client.
    pub client: Ident,
    /// Who may name them.
    pub visibility: Visibility,
    /// The methods in the order of their labels.
    pub methods: Vec<Method>,
}

/// A method.
pub struct Method {
    /// Its name.
    pub name: Ident,
    /// The constant with its label.
    pub constant: Ident,
    /// The label.
    pub label: u32,
    /// Attributes that the client's method has too: the documentation.
    pub attributes: Vec<Attribute>,
    /// All arguments behind `self`.
    pub arguments: Vec<Argument>,
    /// What it returns.
    pub returns: Type,
    /// Whether the client waits for no answer.
    pub one_way: bool,
}

/// An argument.
pub struct Argument {
    /// Its name.
    pub name: Ident,
    /// Its type as it is written.
    pub kind: Type,
    /// How it travels.
    pub travels: Travels,
}

/// How an argument travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Travels {
    /// As words of its type.
    Words,
    /// As bytes behind all words.
    Bytes,
    /// As bytes that are UTF-8.
    Text,
    /// Not at all: the kernel tells it to the server.
    Badge,
}

impl Contract {
    /// Reads a trait; all that is wrong with it is one error.
    pub fn of(item: &ItemTrait) -> Result<Contract> {
        let mut wrong = Wrong(None);
        if !item.generics.params.is_empty() {
            wrong.at(&item.generics.params, "a service has no generic parameters");
        }
        let mut methods = Vec::new();
        for part in &item.items {
            match part {
                TraitItem::Fn(method) => {
                    let label = methods.len() as u32 + 1;
                    methods.push(Method::of(method, label, &mut wrong));
                }
                other => wrong.at(other, "a service has methods alone"),
            }
        }
        let contract = Contract {
            name: item.ident.clone(),
            client: format_ident!("{}Client", item.ident),
            visibility: item.vis.clone(),
            methods,
        };
        wrong.0.map_or(Ok(contract), Err)
    }
}

impl Method {
    fn of(item: &TraitItemFn, label: u32, wrong: &mut Wrong) -> Method {
        let name = item.sig.ident.clone();
        if TAKEN.iter().any(|taken| name == taken) {
            wrong.at(&name, &format!("`{name}` is a name that the service's own methods have"));
        }
        if let Some(attribute) = item.attrs.iter().find(|one| one.path().is_ident("cfg")) {
            wrong.at(attribute, "a method is there always: labels go by the order of methods");
        }
        check_form(&item.sig, wrong);
        let one_way = item.attrs.iter().find(|one| one.path().is_ident(ONE_WAY));
        if let (Some(_), ReturnType::Type(_, kind)) = (one_way, &item.sig.output) {
            wrong.at(kind, "a method that is one way has no answer: it returns nothing");
        }
        if let Some(attribute) = one_way.filter(|one| one.meta.require_path_only().is_err()) {
            wrong.at(attribute, "`#[one_way]` takes no arguments");
        }
        let documentation = item.attrs.iter().filter(|one| one.path().is_ident("doc"));
        Method {
            constant: format_ident!("{}", name.unraw().to_string().to_uppercase()),
            name,
            label,
            attributes: documentation.cloned().collect(),
            arguments: arguments(&item.sig, wrong),
            returns: match &item.sig.output {
                ReturnType::Default => parse_quote!(()),
                ReturnType::Type(_, kind) => (**kind).clone(),
            },
            one_way: one_way.is_some(),
        }
    }

    /// The bytes behind its words, if it has some.
    pub fn tail(&self) -> Option<&Argument> {
        self.arguments.last().filter(|last| matches!(last.travels, Travels::Bytes | Travels::Text))
    }

    /// The types of the arguments that travel as words.
    pub fn words(&self) -> impl Iterator<Item = &Type> {
        let words = self.arguments.iter().filter(|one| one.travels == Travels::Words);
        words.map(|argument| &argument.kind)
    }
}

/// Checks everything of a method but its arguments.
fn check_form(signature: &Signature, wrong: &mut Wrong) {
    if !signature.generics.params.is_empty() {
        wrong.at(&signature.generics.params, "a service's method has no generic parameters");
    }
    if let Some(word) = &signature.asyncness {
        wrong.at(word, "a call waits for its answer: leave `async` out");
    }
    if let Some(word) = &signature.unsafety {
        wrong.at(word, "a server cannot rely on its clients: leave `unsafe` out");
    }
    match signature.receiver() {
        None => wrong.at(&signature.ident, "a service's method begins with `&mut self` or `&self`"),
        Some(own) if own.reference.is_none() || own.colon_token.is_some() => {
            wrong.at(own, "a server answers again and again: take `&mut self` or `&self`");
        }
        Some(_) => (),
    }
    if let ReturnType::Type(_, kind) = &signature.output
        && let Type::Reference(_) = &**kind
    {
        wrong.at(kind, "an answer is a value: a reference cannot be returned");
    }
}

fn arguments(signature: &Signature, wrong: &mut Wrong) -> Vec<Argument> {
    let mut arguments = Vec::new();
    for input in &signature.inputs {
        let FnArg::Typed(input) = input else { continue };
        let name = match &*input.pat {
            Pat::Ident(one) if one.by_ref.is_none() && one.subpat.is_none() => one.ident.clone(),
            other => {
                wrong.at(other, "an argument of a service has a name, no pattern");
                continue;
            }
        };
        let travels = travels(&input.ty).unwrap_or_else(|| {
            wrong.at(&input.ty, "only `&str` and `&[u8]` can be lent: pass a value");
            Travels::Words
        });
        arguments.push(Argument { name, kind: (*input.ty).clone(), travels });
    }
    for argument in arguments.iter().rev().skip(1) {
        if matches!(argument.travels, Travels::Bytes | Travels::Text) {
            wrong.at(&argument.kind, "bytes and text are the last argument of a method");
        }
    }
    arguments
}

/// How an argument of a type travels; none for references that cannot.
fn travels(kind: &Type) -> Option<Travels> {
    let named = |kind: &Type, name: &str| match kind {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == name),
        _ => false,
    };
    match kind {
        Type::Reference(lent) if lent.mutability.is_some() || lent.lifetime.is_some() => None,
        Type::Reference(lent) => match &*lent.elem {
            Type::Slice(slice) if named(&slice.elem, "u8") => Some(Travels::Bytes),
            elem => named(elem, "str").then_some(Travels::Text),
        },
        kind if named(kind, "Badge") => Some(Travels::Badge),
        _ => Some(Travels::Words),
    }
}

/// What was found to be wrong.
struct Wrong(Option<Error>);

impl Wrong {
    fn at(&mut self, tokens: &(impl ToTokens + Spanned), what: &str) {
        let error = Error::new_spanned(tokens, what);
        match &mut self.0 {
            Some(first) => first.combine(error),
            none => *none = Some(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::TokenStream;
    use quote::quote;

    fn service(methods: TokenStream) -> Result<Contract> {
        Contract::of(&syn::parse2(quote!(trait Door { #methods })).unwrap())
    }

    /// Each mistake as the text that it points at, and what is said of it.
    fn mistakes(methods: &str) -> Vec<(String, String)> {
        let text = format!("trait Door {{ {methods} }}");
        let Err(errors) = Contract::of(&syn::parse_str(&text).unwrap()) else { return Vec::new() };
        let column = |place: proc_macro2::LineColumn| place.column;
        let of = |error: Error| {
            let (from, to) = (column(error.span().start()), column(error.span().end()));
            (text[from..to].to_string(), error.to_string())
        };
        errors.into_iter().map(of).collect()
    }

    #[test]
    fn labels_go_by_the_order() {
        let methods = quote! {
            fn a(&self);
            fn b(&mut self, who: service::Badge, n: u64, text: &str) -> u8;
            fn r#type(&mut self, bytes: &[u8]);
        };
        let methods = service(methods).unwrap_or_else(|error| panic!("{error}")).methods;
        let seen = methods.iter().map(|one| (one.label, one.constant.to_string()));
        let expected = [(1, "A"), (2, "B"), (3, "TYPE")].map(|(n, name)| (n, name.to_string()));
        assert!(seen.eq(expected));
        let travels: Vec<_> = methods[1].arguments.iter().map(|one| one.travels).collect();
        assert_eq!(travels, [Travels::Badge, Travels::Words, Travels::Text]);
        assert_eq!((methods[1].words().count(), methods[1].tail().is_some()), (1, true));
        assert!(methods[0].tail().is_none() && methods[2].tail().is_some());
    }

    #[test]
    fn mistakes_are_shown_where_they_are() {
        for (methods, place, what) in [
            ("fn f<T>(&self, t: T);", "T", "no generic parameters"),
            ("const N: u64;", "const N: u64;", "methods alone"),
            ("fn f();", "f", "begins with `&mut self`"),
            ("fn f(self);", "self", "again and again"),
            ("fn f(self: &Self);", "self: &Self", "again and again"),
            ("async fn f(&self);", "async", "leave `async` out"),
            ("unsafe fn f(&self);", "unsafe", "leave `unsafe` out"),
            ("#[one_way] fn f(&self) -> u64;", "u64", "has no answer"),
            ("#[one_way(fast)] fn f(&self);", "#[one_way(fast)]", "takes no arguments"),
            ("fn f(&self) -> &str;", "&str", "a reference cannot be returned"),
            ("fn f(&self, (a, b): (u8, u8));", "(a, b)", "a name, no pattern"),
            ("fn f(&self, n: &u64);", "&u64", "pass a value"),
            ("fn f(&self, n: &mut [u8]);", "&mut [u8]", "pass a value"),
            ("fn f(&self, a: &str, n: u64);", "&str", "the last argument"),
            ("fn serve(&self);", "serve", "own methods"),
            ("#[cfg(test)] fn f(&self);", "#[cfg(test)]", "is there always"),
        ] {
            let found = mistakes(methods);
            assert_eq!(found.len(), 1, "{methods}: {found:?}");
            assert_eq!(found[0].0, place, "{methods}");
            assert!(found[0].1.contains(what), "{methods}: {}", found[0].1);
        }
    }

    #[test]
    fn all_mistakes_are_shown_at_once() {
        assert_eq!(mistakes("type A; fn f(a: &u8); fn new(&self);").len(), 4);
    }
}
