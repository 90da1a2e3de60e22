//! What reservations have had, left for the host when the system is shut down.

use super::Manager;
use crate::access::Life;
use crate::port::Port;
use abi::account::{
    ENDED, EXISTS, HEADER_WORDS, LATEST, MAGIC, MISSED, OVERRUNS, RECORD_WORDS, SERVICE,
    WORD_MAGIC, WORD_NOW, WORD_RECORDS, WORD_ROOTS, WORST,
};
use core::sync::atomic::Ordering::Relaxed;
use policies::tree::NodeId;

impl<P: Port> Manager<'_, P> {
    /// Writes the accounts, where the boot archive asks for them. Long, but the last thing that
    /// this kernel does.
    pub(super) fn leave_accounts(&self) {
        let trees = &self.kernel.trees;
        let (now, [_, pages]) = (self.kernel.port.now(), trees.accounts());
        let room = (pages * P::PAGE / 8) as usize;
        let mut records = 0;
        for index in 0.. {
            let first = HEADER_WORDS + index as usize * RECORD_WORDS;
            let Some(at) = self.kernel.reservations.get(index) else { break };
            if first + RECORD_WORDS > room {
                break;
            }
            records += 1;
            let node = NodeId(self.all.open(at).node.get());
            let exists = at.life() == Life::Live;
            let state = trees.with(|tree| {
                tree.account_all(now);
                tree.inspect(node)
            });
            let Some(state) = state.flatten().filter(|_| exists) else { continue };
            let mut record = [0; RECORD_WORDS];
            record[EXISTS] = 1;
            record[SERVICE] = state.service;
            record[OVERRUNS] = state.overruns.into();
            record[ENDED] = state.jobs.ended;
            record[MISSED] = state.jobs.missed;
            record[WORST] = state.jobs.worst;
            record[LATEST] = state.jobs.latest;
            record.iter().zip(first..).for_each(|(word, at)| self.write_account(at, *word));
        }
        if room >= HEADER_WORDS {
            self.write_account(WORD_ROOTS, trees.roots().into());
            self.write_account(WORD_RECORDS, records);
            self.write_account(WORD_NOW, now);
            self.write_account(WORD_MAGIC, MAGIC);
        }
    }

    fn write_account(&self, at: usize, word: u64) {
        let [base, _] = self.kernel.trees.accounts();
        let byte = 8 * at as u64;
        let frame = self.kernel.port.frame(base + byte / P::PAGE * P::PAGE);
        frame[(byte % P::PAGE / 8) as usize].store(word, Relaxed);
    }
}
