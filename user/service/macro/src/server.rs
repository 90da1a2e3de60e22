//! The server: what the trait gets beside its methods.

use crate::client::{grants, words};
use crate::contract::{Argument, Contract, Method, ONE_WAY, Travels};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{ItemTrait, TraitItem, parse_quote};

/// The trait with the methods that answer requests.
pub fn of(mut item: ItemTrait, contract: &Contract) -> TokenStream {
    // No name of an argument can be this one.
    let request = Ident::new("request", Span::mixed_site());
    let cases = contract.methods.iter().map(|method| case(contract, method, &request));
    let client = &contract.client;
    for part in &mut item.items {
        if let TraitItem::Fn(method) = part {
            method.attrs.retain(|attribute| !attribute.path().is_ident(ONE_WAY));
        }
    }
    item.items.push(parse_quote! {
        /// The answer to a request. One that is no call of the service is answered with
        /// `service::UNKNOWN`, and no method is called.
        #[inline]
        fn dispatch(&mut self, #request: &::service::Request) -> ::service::Message {
            match #request.label() {
                #(#cases)*
                _ => ::service::unknown(),
            }
        }
    });
    item.items.push(parse_quote! {
        /// Answers requests at an endpoint (right `receive`) until no more can be received, and
        /// returns why, as `rt::Server::run` does. For messages of at most four words.
        #[inline]
        fn serve(&mut self, endpoint: ::service::Slot) -> ::service::Error
        where
            Self: Sized,
        {
            ::service::serve::<{ #client::LONGEST }, { #client::CAPABILITIES }>(
                endpoint,
                |request| self.dispatch(request),
            )
        }
    });
    item.into_token_stream()
}

/// What answers the requests for one method.
fn case(contract: &Contract, method: &Method, request: &Ident) -> TokenStream {
    let (Method { name, constant, arguments, .. }, client) = (method, &contract.client);
    let message = Ident::new("message", Span::mixed_site());
    let room = Ident::new("room", Span::mixed_site());
    let (words, grants, tail) = (words(method), grants(method), method.tail());
    let begin = match tail {
        Some(_) => quote!(more_than),
        None => quote!(exactly),
    };
    let mutable = (tail.is_some() || method.words().next().is_some()).then(|| quote!(mut));
    let own = tail.map(|_| quote!(let mut #room = [0; ::service::MAX_BYTES];));
    let take = arguments.iter().map(|one| take(one, request, &message, &room));
    let names = arguments.iter().map(|one| &one.name);
    let returns = &method.returns;
    let answer = quote_spanned!(returns.span()=> ::service::answer::<#returns>);
    let unused = mutable.is_none().then(|| quote!(let _ = #message;));
    quote! {
        #client::#constant => {
            let #message = ::service::Incoming::#begin(#request, #words, #grants);
            let Some(#mutable #message) = #message else { return ::service::unknown() };
            #unused
            #own
            #(#take)*
            #answer(self.#name(#(#names),*), #request.buffer())
        }
    }
}

/// Takes an argument out of a request.
fn take(argument: &Argument, request: &Ident, message: &Ident, room: &Ident) -> TokenStream {
    let Argument { name, kind, travels } = argument;
    let value = match travels {
        Travels::Badge => return quote!(let #name = ::service::Badge(#request.badge());),
        Travels::Words => {
            quote_spanned!(kind.span()=> <#kind as ::service::Wire>::take(&mut #message))
        }
        Travels::Bytes => quote!(#message.bytes(&mut #room)),
        Travels::Text => quote!(#message.text(&mut #room)),
    };
    quote!(let Some(#name) = #value else { return ::service::unknown() };)
}
