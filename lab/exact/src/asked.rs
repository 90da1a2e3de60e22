//! What is asked of the plugin.

/// The last instructions before a CPU executes a mark.
#[derive(Debug)]
pub struct Window {
    /// Its number.
    pub number: usize,
    /// Of all windows with this number one is kept.
    pub group: u32,
    /// How many instructions of all CPUs.
    pub steps: u64,
    /// How many of them do not count when windows are compared.
    pub less: u64,
}

/// A CPU, and which of the marks that it executes, from 0.
pub type End = (u32, u64);

/// The plugin's arguments.
#[derive(Debug)]
pub struct Asked {
    /// Where the evidence goes.
    pub out: String,
    /// Whether executions are counted.
    pub count: bool,
    /// After how many instructions the run ends.
    pub limit: u64,
    /// How many CPUs there are.
    pub cpus: usize,
    /// How many instructions of each can be looked back at, a power of two.
    pub back: u64,
    /// Addresses of the marks.
    pub marks: Vec<u64>,
    /// What may have to be recorded, in the order of the ends.
    pub windows: Vec<(End, Window)>,
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
            cpus: 1,
            back: 1,
            marks: Vec::new(),
            windows: Vec::new(),
        };
        for argument in arguments {
            let wrong = || format!("the plugin does not understand `{argument}`");
            match argument.split_once('=').ok_or_else(wrong)? {
                ("out", path) => asked.out = path.to_string(),
                ("count", "on") => asked.count = true,
                ("limit", count) => asked.limit = count.parse().map_err(|_| wrong())?,
                ("cpus", count) => asked.cpus = count.parse().map_err(|_| wrong())?,
                ("back", count) => asked.back = count.parse().map_err(|_| wrong())?,
                ("mark", address) => {
                    asked.marks.push(u64::from_str_radix(address, 16).map_err(|_| wrong())?);
                }
                ("windows", path) => {
                    let text = std::fs::read_to_string(path).map_err(|_| wrong())?;
                    let lines = text.lines().enumerate();
                    let windows = lines.map(|(number, line)| Window::parse(number, line));
                    asked.windows = windows.collect::<Option<_>>().ok_or_else(wrong)?;
                    asked.windows.sort_by_key(|(end, _)| *end);
                }
                _ => return Err(wrong()),
            }
        }
        Ok(asked)
    }

    /// The windows that end there.
    pub fn ending(&self, at: End) -> impl Iterator<Item = &Window> {
        let first = self.windows.partition_point(|(end, _)| *end < at);
        let here = self.windows[first..].iter().take_while(move |(end, _)| *end == at);
        here.map(|(_, window)| window)
    }
}

impl Window {
    /// A line `GROUP CPU MARK STEPS LESS`.
    fn parse(number: usize, line: &str) -> Option<(End, Window)> {
        let mut words = line.split(' ');
        let group = words.next()?.parse().ok()?;
        let end = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let [steps, less] = [words.next()?, words.next()?].map(|word| word.parse().ok());
        let window = Window { number, group, steps: steps?, less: less? };
        words.next().is_none().then_some((end, window))
    }
}
