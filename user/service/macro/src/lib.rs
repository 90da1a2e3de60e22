//! Writes the stubs of typed calls from a trait. What they are is said in the crate `service`,
//! which re-exports these macros and holds what they call.
#![forbid(unsafe_code)]

mod client;
mod contract;
mod derive;
mod server;

use contract::Contract;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, ItemTrait};

/// Makes a client and a server's dispatch of a trait. See the crate `service`.
#[proc_macro_attribute]
pub fn service(
    arguments: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand(arguments.into(), item.into()).into()
}

/// Lets a structure of values, or an enumeration without fields, travel in messages.
#[proc_macro_derive(Wire)]
pub fn wire(item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let made = syn::parse2(item.into()).and_then(derive::wire);
    made.unwrap_or_else(Error::into_compile_error).into()
}

/// The trait with what is made of it. One with mistakes stays, with them alone: what uses it shows
/// no further ones.
fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let kept = item.clone();
    made(arguments, item).unwrap_or_else(|error| {
        let errors = error.into_compile_error();
        quote!(#kept #errors)
    })
}

fn made(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    if !arguments.is_empty() {
        return Err(Error::new_spanned(arguments, "`#[service]` takes no arguments"));
    }
    let item: ItemTrait = syn::parse2(item).map_err(|error| {
        Error::new(error.span(), format!("`#[service]` is for traits: {error}"))
    })?;
    let contract = Contract::of(&item)?;
    let client = client::of(&contract);
    let server = server::of(item, &contract);
    Ok(quote!(#server #client))
}
