//! Numbers that programs, kernel and recordings of different builds share: they never change.

use abi::call::{Call, Fact, Observe, Table, ThreadState, Timeout, exchange, fault};
use abi::message::{FaultKind, Info};
use abi::object::{Kind, Resource};
use abi::trace::Event;
use abi::{Error, Rights, Status};

/// Values and their numbers.
macro_rules! pinned {
    ($kind:ident: $($name:ident $number:literal),+ $(,)?) => {
        $(assert_eq!($kind::$name as u64, $number, stringify!($kind::$name));)+
    };
}

#[test]
fn errors() {
    pinned!(Error: UnknownCall 1, InvalidArgument 2, NoCapability 3, WrongKind 4, Stale 5,
        MissingRight 6, SlotOccupied 7, QuotaExceeded 8, PoolExhausted 9, Timeout 10, Destroyed 11,
        Cancelled 12, NoReply 13, NoBuffer 14, TooLong 15, NotTaken 16, AddressInUse 17,
        BadAddress 18, PriorityTooHigh 19, WrongState 20, WriteExecute 21, SelfSend 22,
        Abandoned 23, CpuNotAllowed 24, Overcommitted 25, TooDeep 26, Changed 27,
        BrokenQueue 28, OtherMutex 29, Faulted 30, HelpsAlready 31, NoHelper 32,
        TooManyHelpers 33, Cycle 34, AlreadyOwner 35, OtherDomain 36,
        Deadlock 37, OnReservation 38, BudgetTooSmall 39);
    for error in Error::ALL {
        assert_eq!(Error::from_code(error as u8), Some(error));
        assert_eq!(Status::failed(error).result(), Err(error));
        assert!(!Status::failed(error).in_receive());
        assert_eq!(Status::failed_in_receive(error).result(), Err(error));
        assert!(Status::failed_in_receive(error).in_receive());
    }
    assert_eq!((Error::from_code(0), Error::from_code(40)), (None, None));
    assert_eq!(Status::failed_in_receive(Error::Timeout).0, 0x10a);
    assert_eq!((Status::OK.0, Status::OK.result()), (0, Ok(())));
}

#[test]
fn calls() {
    pinned!(Call: Ipc 0, Call 1, ReplyWait 2, Signal 3, Yield 4, Null 5, Clock 6, Fact 7,
        CapCopy 16, CapDelete 17, CapRevoke 18, CapSaveReply 19, CapInspect 20, Destroy 21,
        EndpointCreate 24, NotificationCreate 25, TimerCreate 26, TimerSet 27, InterruptAck 28,
        InterruptRoute 29, MemoryCreate 32, Map 33, Protect 34, MemoryAddress 35, PortRead 36,
        PortWrite 37,
        DomainCreate 40, DomainGrant 41, ThreadCreate 42,
        ThreadExchange 43, ThreadResume 44, ThreadSuspend 45, ThreadPriority 46, ThreadInspect 47,
        ThreadMigrate 48, Name 54, ConsoleWrite 56, ConsoleRead 57, Shutdown 58, Inspect 59,
        Observe 60, MutexWait 64, MutexWake 65, CondWait 66, CondRequeue 67, InheritWait 68,
        InheritWake 69, InheritCondWait 70, InheritRequeue 71, InheritHelp 72, Ceiling 73,
        Serve 74, TrainCreate 128, TrainCall 129, TrainReturn 130);
    for call in Call::ALL {
        assert_eq!(Call::from_number(call as u64), Some(call));
    }
    let known = (0..=255).filter(|number| Call::from_number(*number).is_some()).count();
    assert_eq!(known, Call::ALL.len());
}

#[test]
fn arguments_and_results() {
    pinned!(Timeout: Never 0, Zero 1, At 2);
    pinned!(Fact: KernelName 0, CounterHz 1, Tick 2, Kernel 3, Cpus 4, Identity 5);
    pinned!(Table: Domain 0, Thread 1, Quota 2, Pool 3, Slot 4, Counter 5, Length 6, Time 7,
        Block 8, Reservation 9, Share 10, ThreadName 11);
    pinned!(Observe: Reset 0, Freeze 1, Record 2, Mark 3, UserBefore 4, UserAfter 5);
    pinned!(ThreadState: Ready 1, Suspended 2, Sending 3, Receiving 4, Calling 5, Waiting 6);
    pinned!(Kind: Domain 1, Thread 2, Endpoint 3, Notification 4, Interrupt 5, Memory 6,
        Mapping 7, Timer 8, Reply 9, Console 10, System 11, Reservation 12, Train 13);
    pinned!(Resource: Domains 0, Threads 1, Endpoints 2, Notifications 3, Interrupts 4, Memories 5,
        Mappings 6, Timers 7, Frames 8, Tables 9, Slots 10, Reservations 11, Trains 12,
        Stacks 13);
    pinned!(FaultKind: Memory 1, Instruction 2, Arithmetic 3, Debug 4, Other 5);
    pinned!(Event: Enter 0, Exit 1, Switch 2, Message 3, Block 4, Wake 5, Queue 6, Insert 7,
        Remove 8, LookUp 9, LazyDequeue 10, Donate 11, Expire 12, Signal 13, Fault 14, Preempt 15,
        Chain 16, Tick 17, Thread 18, Priority 19, Mark 20, UserBefore 21, UserAfter 22, Arm 23,
        Ipi 24, Lock 25, Unlock 26, Undone 27);
    let in_order = |values: &[u64]| values.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    assert!(in_order(&Kind::ALL.map(|kind| kind as u64)));
    assert!(in_order(&Resource::ALL.map(|resource| resource as u64)));
    let mask = [
        exchange::INSTRUCTION,
        exchange::STACK,
        exchange::ARGUMENT,
        exchange::THREAD,
        exchange::CANCEL,
    ];
    assert_eq!(mask, [1, 2, 4, 8, 16]);
    assert_eq!([fault::RETRY, fault::CONTINUE, fault::SUSPEND], [0, 1, 2]);
}

#[test]
fn rights_and_descriptors() {
    let ipc = [Rights::SEND, Rights::RECEIVE, Rights::GRANT].map(|right| right.0);
    let memory = [Rights::READ, Rights::WRITE, Rights::EXECUTE].map(|right| right.0);
    assert_eq!((ipc, memory, Rights::CONTROL.0), ([1, 2, 4], [1, 2, 4], 1));
    assert_eq!(Rights::PHYSICAL.0, 64);
    let common = [Rights::COPY, Rights::REVOKE, Rights::DESTROY, Rights::ALL].map(|right| right.0);
    assert_eq!(common, [8, 16, 32, 63]);
    assert_eq!([Info::CAPABILITY, Info::NOTIFICATION, Info::FAULT], [256, 512, 1024]);
    let info = Info(u64::MAX);
    assert_eq!((info.words(), info.label()), (255, u32::MAX));
    assert_eq!(info.from_user().0, 0xffff_ffff_0000_01ff);
    assert_eq!(Info::new(7, 3).with_capability().0, 7 << 32 | 256 | 3);
}
