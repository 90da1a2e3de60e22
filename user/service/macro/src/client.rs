//! The client: a method for each of the trait's, which makes the call.

use crate::contract::{Contract, Method, Travels};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

/// The client of a service.
pub fn of(contract: &Contract) -> TokenStream {
    let Contract { name, client, visibility, methods } = contract;
    let about = format!("Calls [`{name}`] through a slot.");
    let constants = methods.iter().map(constant);
    let grants = methods.iter().map(capabilities);
    let lengths = methods.iter().map(lengths);
    let stubs = methods.iter().map(stub);
    quote! {
        #[doc = #about]
        #[derive(Clone, Copy)]
        #visibility struct #client(::service::Caller);

        #[allow(dead_code)]
        impl #client {
            #(#constants)*
            /// Length of the longest message in words: with more than four, client and server need
            /// a buffer.
            pub const LONGEST: usize = ::service::longest(&[#(#lengths)*]);
            /// How many capabilities a message has at most, 0 or 1: with one, client and server
            /// need a buffer and free slots.
            pub const CAPABILITIES: usize = ::service::longest(&[#(#grants)*]);

            /// A client that calls through this slot (right `send`) and waits as long as it takes.
            #[inline(always)]
            pub const fn new(slot: ::service::Slot) -> Self {
                Self(::service::Caller::new(slot))
            }

            /// Lets each call take so long at most; it fails with `Ipc(Error::Timeout)` then. Costs
            /// a system call each time, which asks for the present.
            #[inline(always)]
            pub const fn within(self, length: ::core::time::Duration) -> Self {
                Self(self.0.within(length))
            }

            /// Lets all calls wait so.
            #[inline(always)]
            pub const fn wait(self, wait: ::service::Wait) -> Self {
                Self(self.0.wait(wait))
            }

            /// Lets messages have more than four words. `buffer` is that of the thread that calls.
            #[inline(always)]
            pub const fn with_buffer(self, buffer: ::service::Buffer) -> Self {
                Self(self.0.with_buffer(buffer))
            }

            /// Lets messages have more than four words, and answers bring a capability, into a
            /// slot of the pool. `buffer` is that of the thread that calls.
            ///
            /// # Panics
            ///
            /// If the pool is full.
            #[inline]
            #[track_caller]
            pub fn accepting(
                self,
                pool: ::service::SlotPool,
                buffer: ::service::Buffer,
            ) -> Self {
                Self(self.0.accepting(pool, buffer))
            }

            /// The slot that it calls through.
            #[inline(always)]
            pub const fn slot(&self) -> ::service::Slot {
                self.0.slot()
            }

            #(#stubs)*
        }
    }
}

fn constant(method: &Method) -> TokenStream {
    let Method { name, constant, label, .. } = method;
    let about = format!("The label of `{name}`.");
    quote! {
        #[doc = #about]
        pub const #constant: u32 = #label;
    }
}

/// The lengths in words of a request and of its answers, each with a comma behind it.
fn lengths(method: &Method) -> TokenStream {
    let (words, returns) = (words(method), &method.returns);
    let bytes = method.tail().map(|_| quote!(+ 1 + ::service::MAX_BYTES / 8));
    let answer = quote_spanned!(returns.span()=> <#returns as ::service::Returns>);
    quote! {
        #words #bytes,
        <#answer::Value as ::service::Wire>::WORDS,
        <#answer::Error as ::service::Wire>::WORDS,
    }
}

/// How many capabilities a request and its answers have, each with a comma behind it.
fn capabilities(method: &Method) -> TokenStream {
    let (grants, returns) = (grants(method), &method.returns);
    let answer = quote_spanned!(returns.span()=> <#returns as ::service::Returns>);
    quote! {
        #grants,
        <#answer::Value as ::service::Wire>::CAPABILITIES,
        <#answer::Error as ::service::Wire>::CAPABILITIES,
    }
}

/// How many capabilities the arguments have.
pub fn grants(method: &Method) -> TokenStream {
    let each = method
        .words()
        .map(|kind| quote_spanned!(kind.span()=> <#kind as ::service::Wire>::CAPABILITIES));
    quote!(0 #(+ #each)*)
}

/// The length in words of the arguments that have one.
pub fn words(method: &Method) -> TokenStream {
    let lengths =
        method.words().map(|kind| quote_spanned!(kind.span()=> <#kind as ::service::Wire>::WORDS));
    quote!(0 #(+ #lengths)*)
}

fn stub(method: &Method) -> TokenStream {
    let Method { name, constant, attributes, arguments, returns, .. } = method;
    let passed = || arguments.iter().filter(|one| one.travels != Travels::Badge);
    let parameters = passed().map(|one| {
        let (name, kind) = (&one.name, &one.kind);
        quote!(#name: #kind)
    });
    let (words, grants, all) = (words(method), grants(method), capabilities(method));
    // No name of an argument can be this one.
    let message = Ident::new("message", Span::mixed_site());
    let put = passed().map(|one| {
        let (name, kind) = (&one.name, &one.kind);
        match one.travels {
            Travels::Text => quote!(#message.bytes(#name.as_bytes())?;),
            Travels::Bytes => quote!(#message.bytes(#name)?;),
            _ => {
                quote_spanned!(kind.span()=> <#kind as ::service::Wire>::put(#name, &mut #message);)
            }
        }
    });
    let mutable = passed().next().map(|_| quote!(mut));
    let limit = format!("the arguments of `{name}` are longer than a message, 128 words");
    let check = quote_spanned!(name.span()=> const _: () = ::core::assert!(#words <= 128, #limit););
    let many = format!("`{name}` has more than one capability in a message");
    let one = quote_spanned! {name.span()=>
        const _: () = ::core::assert!(::service::longest(&[#all]) <= 1, #many);
    };
    let answer = quote_spanned!(returns.span()=> <#returns as ::service::Returns>);
    let takes = quote! {
        <#answer::Value as ::service::Wire>::CAPABILITIES
            + <#answer::Error as ::service::Wire>::CAPABILITIES
    };
    let send = match method.one_way {
        true => quote!(self.0.send(Self::#constant, #message)),
        false => quote!(self.0.call::<#returns>(Self::#constant, #message)),
    };
    let called = quote_spanned!(returns.span()=> ::service::Called<#returns>);
    quote! {
        #(#attributes)*
        #[inline]
        pub fn #name(&self, #(#parameters),*) -> #called {
            #check
            #one
            let #mutable #message = self.0.begin(#words, #grants, #takes)?;
            #(#put)*
            #send
        }
    }
}
