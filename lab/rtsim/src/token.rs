//! Words, numbers and signs with their places.

use manifest::{Problem, Source, Span};

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A keyword or a name.
    Word(String),
    /// A whole number.
    Number(u64),
    /// One of the signs `(){},;*`.
    Sign(char),
    /// The end of the file.
    End,
}

/// A token and its place.
#[derive(Clone, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it is.
    pub span: Span,
}

/// The tokens of a text, the last one [`Kind::End`]. Comments go from `#` to the end of the line.
pub fn tokens(source: &Source) -> Result<Vec<Token>, Problem> {
    let text = source.text.as_str();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = |fits: fn(char) -> bool| rest.find(|c| !fits(c)).unwrap_or(rest.len());
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (kind, bytes) = match first {
            '#' => (None, length(|c| c != '\n')),
            c if c.is_whitespace() => (None, length(char::is_whitespace)),
            '(' | ')' | '{' | '}' | ',' | ';' | '*' => (Some(Kind::Sign(first)), 1),
            c if is_word(c) => {
                let bytes = length(|c| c.is_ascii_alphanumeric() || c == '_');
                let word = &rest[..bytes];
                let is_number = first.is_ascii_digit();
                let number = word.parse();
                if is_number && number.is_err() {
                    let help = "write a whole number below 2^64; names begin with a letter";
                    let what = format!("`{word}` is neither a number nor a name");
                    return Err(source.problem(&(at..at + bytes), what, help));
                }
                (Some(number.map_or_else(|_| Kind::Word(word.into()), Kind::Number)), bytes)
            }
            other => {
                let what = format!("`{other}` has no meaning here");
                let help =
                    "there are names, numbers, the signs ( ) { } , ; * and comments behind #";
                return Err(source.problem(&(at..at + other.len_utf8()), what, help));
            }
        };
        found.extend(kind.map(|kind| Token { kind, span: at..at + bytes }));
        at += bytes;
    }
    found.push(Token { kind: Kind::End, span: text.len()..text.len() });
    Ok(found)
}
