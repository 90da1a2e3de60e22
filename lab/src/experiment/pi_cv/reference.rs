//! The ledger's model of S2G-E01: an independent discrete-event simulation, in which switches take
//! no time and a wait takes time only when it blocks.

use super::{CLIENTS, PI};
use results::{Limit, Summary};

/// What the model gives for one way to lend.
struct Model {
    phases: [u64; CLIENTS],
    pi: &'static str,
    /// Jobs of each client, and their least, mean and greatest response, in units; the least where
    /// the ledger has it.
    clients: [(u64, Option<f64>, f64, f64); CLIENTS],
    /// The server's time at the priorities 1 to 4, where the ledger has it.
    server: Option<[f64; 1 + CLIENTS]>,
}

const MODELS: [Model; 4] = [
    Model {
        phases: [0, 0, 0],
        pi: PI[0],
        clients: [
            (296, Some(91.0), 117.7, 210.0),
            (293, Some(91.0), 123.0, 243.0),
            (291, Some(91.0), 125.8, 276.0),
        ],
        server: Some([30.0, 153.0, 204.0, 199_613.0]),
    },
    Model {
        phases: [0, 0, 0],
        pi: PI[1],
        clients: [
            (296, Some(91.0), 92.9, 122.0),
            (293, Some(91.0), 110.9, 184.0),
            (291, Some(91.0), 129.0, 276.0),
        ],
        server: Some([9_150.0, 9_211.0, 9_294.0, 172_345.0]),
    },
    Model {
        phases: [0, 300, 500],
        pi: PI[0],
        clients: [(296, None, 118.3, 209.0), (293, None, 122.7, 242.0), (291, None, 132.1, 242.0)],
        server: None,
    },
    Model {
        phases: [0, 300, 500],
        pi: PI[1],
        clients: [(296, None, 93.1, 123.0), (293, None, 111.3, 183.0), (291, None, 139.2, 275.0)],
        server: None,
    },
];

/// How far a response may be off, in units: what the kernel takes for the jobs of a busy period. It
/// is 0.1 on the twin, and 0.9 where the emulator counts the kernel's instructions and its trace's.
const RESPONSE: f64 = 1.0;
/// The same of time at a priority, 0.1 % of all: that for all jobs, and what signals move that wait
/// for a mutex.
const TIME: f64 = 200.0;

/// The clients' figures by the model, for phases of 0.
pub fn told(pi: &str) -> Option<String> {
    let model = MODELS.iter().find(|model| model.phases == [0; CLIENTS] && model.pi == pi)?;
    let clients = model.clients.iter();
    let all = clients.map(spelt).collect::<Vec<_>>();
    Some(all.join(", "))
}

fn spelt((jobs, least, mean, most): &(u64, Option<f64>, f64, f64)) -> String {
    let least = least.map_or(String::new(), |least| format!("{least}/"));
    format!("{jobs}/{least}{mean:.1}/{most}")
}

/// What came out.
pub struct Came {
    /// The responses of each client, in nanoseconds.
    pub clients: [Summary; CLIENTS],
    /// The server's time at the priorities 1 to 4, in units.
    pub server: [f64; 1 + CLIENTS],
    /// Nanoseconds of a unit.
    pub unit: f64,
}

/// The model's figures beside what came out: a sentence for each client and the server, and how far
/// they are apart. Nothing, where the ledger has no figures.
pub fn beside(phases: [u64; CLIENTS], pi: &str, came: &Came) -> (Vec<String>, Vec<Limit>) {
    let known = MODELS.iter().find(|model| model.phases == phases && model.pi == pi);
    let Some(model) = known else { return (Vec::new(), Vec::new()) };
    let (mut notes, mut limits) = (Vec::new(), Vec::new());
    let mut apart = |what: String, [own, model]: [f64; 2], bound| {
        let value = ((own - model).abs() * 100.0).round() / 100.0;
        let name = format!("{pi}, {what}: off the model by");
        limits.push(Limit::most(name, value, bound, "units"));
    };
    for (index, (client, own)) in model.clients.iter().zip(&came.clients).enumerate() {
        let (jobs, least, mean, most) = client;
        let name = format!("Client{}", index + 1);
        let units = |ns: f64| ns / came.unit;
        let [own_least, own_mean, own_most] = [own.min as f64, own.mean, own.max as f64].map(units);
        notes.push(format!(
            "{pi}, {name}: n/min/mean/max {}/{own_least:.2}/{own_mean:.2}/{own_most:.2}; the \
             ledger's model {}.",
            own.n,
            spelt(client)
        ));
        apart(format!("jobs of {name}"), [own.n as f64, *jobs as f64], 0.0);
        if let Some(least) = least {
            apart(format!("least of {name}"), [own_least, *least], RESPONSE);
        }
        apart(format!("mean of {name}"), [own_mean, *mean], RESPONSE);
        apart(format!("most of {name}"), [own_most, *most], RESPONSE);
    }
    if let Some(model) = model.server {
        let shown = |all: &[f64]| all.iter().map(|time| format!("{time:.0}")).collect::<Vec<_>>();
        let (own, told) = (shown(&came.server).join("/"), shown(&model).join("/"));
        notes.push(format!("{pi}, server at priority 1/2/3/4: {own}; the ledger's model {told}."));
        for (index, (own, model)) in came.server.into_iter().zip(model).enumerate() {
            apart(format!("server at priority {}", index + 1), [own, model], TIME);
        }
    }
    (notes, limits)
}
