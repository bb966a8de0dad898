package io.millrace.proxy.exchange;

/**
 * Where an exchange stands, for the rooms that bring it on, and how it ends.
 *
 * <p>Confined to the exchange's event loop.
 */
final class ExchangeState {
    private ExchangePhase phase = ExchangePhase.RECEIVED;
    private ExchangeOutcome outcome = ExchangeOutcome.INTERNAL;

    ExchangePhase phase() {
        return phase;
    }

    boolean isTerminal() {
        return phase.isTerminal();
    }

    /** The next phase; {@link ExchangePhase#next} has those that may follow. */
    void enter(ExchangePhase next) {
        assert phase.next().contains(next) : phase + " -> " + next;
        phase = next;
    }

    /** The next phase, and the outcome unless something breaks it off. */
    void enter(ExchangePhase next, ExchangeOutcome success) {
        enter(next);
        outcome = success;
    }

    ExchangeOutcome outcome() {
        return outcome;
    }

    void end(ExchangeOutcome how) {
        outcome = how;
    }
}
