package io.millrace.proxy.exchange.report;

/**
 * Where an exchange stands, for the rooms that bring it on, and how it ends.
 *
 * <p>Confined to the exchange's event loop.
 */
public final class ExchangeState {
    private ExchangePhase phase = ExchangePhase.RECEIVED;
    private ExchangeOutcome outcome = ExchangeOutcome.INTERNAL;

    public ExchangePhase phase() {
        return phase;
    }

    public boolean isTerminal() {
        return phase.isTerminal();
    }

    /** The next phase; {@link ExchangePhase#next} has those that may follow. */
    public void enter(ExchangePhase next) {
        assert phase.next().contains(next) : phase + " -> " + next;
        phase = next;
    }

    /** The next phase, and the outcome unless something breaks it off. */
    public void enter(ExchangePhase next, ExchangeOutcome success) {
        enter(next);
        outcome = success;
    }

    public ExchangeOutcome outcome() {
        return outcome;
    }

    public void end(ExchangeOutcome how) {
        outcome = how;
    }
}
