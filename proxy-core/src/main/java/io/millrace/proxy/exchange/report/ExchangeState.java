package io.millrace.proxy.exchange.report;

/**
 * The phase and the outcome of an exchange, shared by the classes that advance it.
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

    /** Enters the next phase. {@link ExchangePhase#next} lists the permitted ones. */
    public void enter(ExchangePhase next) {
        assert phase.next().contains(next) : phase + " -> " + next;
        phase = next;
    }

    /** Enters the next phase, with the outcome of the exchange if no failure follows. */
    public void enter(ExchangePhase next, ExchangeOutcome success) {
        enter(next);
        outcome = success;
    }

    public ExchangeOutcome outcome() {
        return outcome;
    }

    /** Sets the outcome of the exchange before it ends. The phase is unchanged. */
    public void end(ExchangeOutcome finalOutcome) {
        outcome = finalOutcome;
    }
}
