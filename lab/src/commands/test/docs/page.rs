//! Reads what a page shows: blocks of code and tables, each with the comment right above it.

/// A note to this check: the HTML comment above a block or table, `name: value; name; ...`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Note(pub Vec<(String, String)>);

impl Note {
    fn parse(text: &str) -> Note {
        let part = |part: &str| {
            let (name, value) = part.split_once(':').unwrap_or((part, ""));
            (name.trim().to_string(), value.trim().to_string())
        };
        Note(text.split(';').filter(|text| !text.trim().is_empty()).map(part).collect())
    }

    /// What it says about something, which may be nothing.
    pub fn get(&self, wanted: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }
}

/// A block of code.
#[derive(Debug)]
pub struct Block {
    /// The line of its fence.
    pub line: usize,
    /// Its language.
    pub language: String,
    /// The note above it.
    pub note: Note,
    /// Its lines, from the one behind the fence.
    pub body: Vec<String>,
}

/// A table; its cells are trimmed.
#[derive(Debug)]
pub struct Table {
    /// The line of its heading.
    pub line: usize,
    /// The note above it.
    pub note: Note,
    /// Its headings.
    pub heading: Vec<String>,
    /// Its rows, from two lines further down.
    pub rows: Vec<Vec<String>>,
}

/// What a page shows, in order.
#[derive(Debug)]
pub enum Piece {
    /// A block of code.
    Block(Block),
    /// A table.
    Table(Table),
}

/// Reads a page.
pub fn read(text: &str) -> Result<Vec<Piece>, String> {
    let lines: Vec<&str> = text.lines().collect();
    let (mut pieces, mut note, mut at) = (Vec::new(), Note::default(), 0);
    while let Some(line) = lines.get(at) {
        let from = at;
        at += 1;
        if let Some(language) = line.strip_prefix("```") {
            let end = find(&lines, at, |line| line.starts_with("```"))
                .ok_or_else(|| format!("line {}: a block that does not end", from + 1))?;
            let body = lines[at..end].iter().map(ToString::to_string).collect();
            let language = language.trim().to_string();
            let note = std::mem::take(&mut note);
            pieces.push(Piece::Block(Block { line: from + 1, language, note, body }));
            at = end + 1;
        } else if line.starts_with('|') {
            at = find(&lines, at, |line| !line.starts_with('|')).unwrap_or(lines.len());
            let rows = lines[from..at].iter().map(|line| cells(line));
            let (heading, rows) = (cells(line), rows.skip(2).collect());
            let note = std::mem::take(&mut note);
            pieces.push(Piece::Table(Table { line: from + 1, note, heading, rows }));
        } else if line.starts_with("<!--") {
            let end = find(&lines, from, |line| line.ends_with("-->"))
                .ok_or_else(|| format!("line {}: a comment that does not end", from + 1))?;
            let comment = lines[from..=end].join("\n");
            let inner = comment.trim_start_matches("<!--").trim_end_matches("-->");
            note = Note::parse(&inner.replace('\n', ";"));
            at = end + 1;
        } else if !line.trim().is_empty() {
            note = Note::default();
        }
    }
    Ok(pieces)
}

fn find(lines: &[&str], from: usize, wanted: impl Fn(&str) -> bool) -> Option<usize> {
    (from..lines.len()).find(|at| wanted(lines[*at]))
}

/// The cells of a table's line.
pub fn cells(line: &str) -> Vec<String> {
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    inner.split('|').map(|cell| cell.trim().to_string()).collect()
}

/// The commands of a block: lines, which `\` goes on with.
pub fn commands(body: &[String]) -> Vec<String> {
    let joined = body.join("\n").replace("\\\n", " ");
    let is_command = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with('#');
    joined.lines().filter(is_command).map(str::to_string).collect()
}

/// Pieces of text in backticks outside of blocks.
pub fn code_spans(text: &str) -> Vec<String> {
    let mut prose = String::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            inside = !inside;
        } else if !inside {
            prose += line;
            prose.push('\n');
        }
    }
    let one_line = |span: &str| span.split_whitespace().collect::<Vec<_>>().join(" ");
    prose.split('`').skip(1).step_by(2).map(one_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = concat!(
        "# Title\n\n<!-- deep; numbers: any -->\n",
        "```sh\n./giusto run \\\n  hello\n# no command\nls  # two\n```\n\n",
        "```text\nhello\n```\n\n",
        "<!-- figures: micro\nwhat = {row} x\n-->\n| a | b |\n|---|---|\n| `x` | 1 |\n\n",
        "See `./giusto\nlab list` and `more`.\n",
    );

    #[test]
    fn blocks_and_tables_are_read_with_their_notes() {
        let pieces = read(PAGE).unwrap();
        let [Piece::Block(first), Piece::Block(second), Piece::Table(table)] = &pieces[..] else {
            panic!("{pieces:?}");
        };
        assert_eq!((first.line, first.language.as_str()), (4, "sh"));
        assert_eq!((first.note.get("deep"), first.note.get("numbers")), (Some(""), Some("any")));
        assert_eq!(commands(&first.body), ["./giusto run    hello", "ls  # two"]);
        assert_eq!((second.note.clone(), second.body.join("")), (Note::default(), "hello".into()));
        assert_eq!((table.line, table.note.get("figures")), (18, Some("micro")));
        assert_eq!(table.note.0[1], ("what = {row} x".to_string(), String::new()));
        assert_eq!(
            (table.heading.join(""), table.rows[0].join(" ")),
            ("ab".into(), "`x` 1".into())
        );
    }

    #[test]
    fn a_note_is_for_what_follows_it_at_once() {
        let pieces = read("<!-- deep -->\nText.\n\n```sh\nls\n```\n").unwrap();
        let [Piece::Block(block)] = &pieces[..] else { panic!("{pieces:?}") };
        assert_eq!(block.note, Note::default());
        assert!(read("```sh\nls\n").unwrap_err().starts_with("line 1: a block"));
        assert!(read("a\n<!-- b\n").unwrap_err().starts_with("line 2: a comment"));
    }

    #[test]
    fn commands_in_the_text_are_found() {
        assert_eq!(code_spans(PAGE), ["x", "./giusto lab list", "more"]);
    }
}
