//! What is asked of the plugin.

/// The last instructions before a CPU executes a mark.
#[derive(Debug)]
pub struct Window {
    /// The CPU.
    pub cpu: u32,
    /// Which of its marks, from 0.
    pub mark: u64,
    /// How many instructions.
    pub steps: u64,
}

/// The plugin's arguments.
#[derive(Debug)]
pub struct Asked {
    /// Where the evidence goes.
    pub out: String,
    /// Whether executions are counted.
    pub count: bool,
    /// After how many instructions the run ends.
    pub limit: u64,
    /// Addresses of the marks.
    pub marks: Vec<u64>,
    /// What is to be recorded.
    pub windows: Vec<Window>,
}

impl Asked {
    /// Reads arguments, each `NAME=VALUE`; a flag is `NAME=on`.
    ///
    /// # Errors
    /// The argument that means nothing.
    pub fn parse(arguments: &[String]) -> Result<Asked, String> {
        let mut asked = Asked {
            out: String::new(),
            count: false,
            limit: u64::MAX,
            marks: Vec::new(),
            windows: Vec::new(),
        };
        for argument in arguments {
            let wrong = || format!("the plugin does not understand `{argument}`");
            match argument.split_once('=').ok_or_else(wrong)? {
                ("out", path) => asked.out = path.to_string(),
                ("count", "on") => asked.count = true,
                ("limit", count) => asked.limit = count.parse().map_err(|_| wrong())?,
                ("mark", address) => {
                    asked.marks.push(u64::from_str_radix(address, 16).map_err(|_| wrong())?);
                }
                ("window", window) => asked.windows.push(Window::parse(window).ok_or_else(wrong)?),
                _ => return Err(wrong()),
            }
        }
        Ok(asked)
    }
}

impl Window {
    fn parse(text: &str) -> Option<Window> {
        let mut words = text.split(':');
        let window = Window {
            cpu: words.next()?.parse().ok()?,
            mark: words.next()?.parse().ok()?,
            steps: words.next()?.parse().ok()?,
        };
        words.next().is_none().then_some(window)
    }
}
