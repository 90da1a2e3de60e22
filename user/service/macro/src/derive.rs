//! Lets structures and enumerations travel.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DataEnum, DataStruct, DeriveInput, Error, Fields, Ident, Index, Member, Result};

/// `Wire` of a type.
pub fn wire(item: DeriveInput) -> Result<TokenStream> {
    if !item.generics.params.is_empty() {
        let what = "a type that travels has no generic parameters";
        return Err(Error::new_spanned(item.generics.params, what));
    }
    let name = &item.ident;
    let (words, grants, put, take) = match &item.data {
        Data::Struct(data) => structure(data),
        Data::Enum(data) => enumeration(name, data)?,
        Data::Union(_) => {
            let what = "a union cannot travel: its receiver would not know what it is";
            return Err(Error::new_spanned(name, what));
        }
    };
    Ok(quote! {
        #[automatically_derived]
        impl ::service::Wire for #name {
            const WORDS: usize = #words;
            const CAPABILITIES: usize = #grants;

            #[inline(always)]
            fn put(self, _to: &mut ::service::Outgoing) {
                #put
            }

            #[inline(always)]
            fn take(_from: &mut ::service::Incoming) -> Option<Self> {
                #take
            }
        }
    })
}

/// Length, capabilities, what appends and what takes a value.
type Parts = (TokenStream, TokenStream, TokenStream, TokenStream);

/// A structure: its fields in their order.
fn structure(data: &DataStruct) -> Parts {
    let member = |(index, field): (usize, &syn::Field)| match &field.ident {
        Some(name) => Member::Named(name.clone()),
        None => Member::Unnamed(Index::from(index)),
    };
    let members: Vec<Member> = data.fields.iter().enumerate().map(member).collect();
    let wires = || {
        let kinds = data.fields.iter().map(|field| &field.ty);
        kinds.map(|kind| quote_spanned!(kind.span()=> <#kind as ::service::Wire>))
    };
    let (lengths, grants, puts, takes) = (wires(), wires(), wires(), wires());
    (
        quote!(0 #(+ #lengths::WORDS)*),
        quote!(0 #(+ #grants::CAPABILITIES)*),
        quote!(#(#puts::put(self.#members, _to);)*),
        quote!(Some(Self { #(#members: #takes::take(_from)?),* })),
    )
}

/// An enumeration: its discriminant.
fn enumeration(name: &Ident, data: &DataEnum) -> Result<Parts> {
    if data.variants.is_empty() {
        let what = "an enumeration without variants has no value that could travel";
        return Err(Error::new_spanned(name, what));
    }
    if let Some(variant) = data.variants.iter().find(|one| !matches!(one.fields, Fields::Unit)) {
        let what = "a variant with fields cannot travel: send them as arguments of their own";
        return Err(Error::new_spanned(&variant.fields, what));
    }
    let names = data.variants.iter().map(|variant| &variant.ident);
    let take = quote! {
        match _from.word() {
            #(word if word == Self::#names as u64 => Some(Self::#names),)*
            _ => None,
        }
    };
    Ok((quote!(1), quote!(0), quote!(_to.word(self as u64);), take))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_travel_is_shown_where_it_is() {
        for (item, place, what) in [
            ("enum E { A, B(u64) }", "(u64)", "a variant with fields"),
            ("enum E {}", "E", "without variants"),
            ("union U { a: u64 }", "U", "a union cannot travel"),
            ("struct S<T>(T);", "T", "no generic parameters"),
        ] {
            let error = wire(syn::parse_str(item).unwrap()).unwrap_err();
            let (from, to) = (error.span().start().column, error.span().end().column);
            assert_eq!(&item[from..to], place, "{item}");
            assert!(error.to_string().contains(what), "{item}: {error}");
        }
    }
}
