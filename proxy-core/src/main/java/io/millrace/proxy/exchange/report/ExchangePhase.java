package io.millrace.proxy.exchange.report;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * Where an exchange stands, from the request's head to its last byte. The transitions below are all there are;
 * {@code docs/reference/exchange-phases.md} is printed from them.
 */
public enum ExchangePhase {
    /** The request's head was read; nothing is decided. */
    RECEIVED("received", "The request's head was read; nothing is decided."),
    /** The disk index knows the key; the record is being read on an I/O thread. */
    OPENING("opening", "The disk index knows the key; the record is being read on an I/O thread."),
    /** Another exchange fetches the same key; waiting for the head of its response. */
    COLLAPSED("collapsed", "Another exchange fetches the same key; waiting for the head of its response."),
    /** The request went to the origin; waiting for the head of its response. */
    FETCHING("fetching", "The request went to the origin; waiting for the head of its response."),
    /** A conditional request for a stored response went to the origin; waiting for the head of its response. */
    VALIDATING("validating", "A conditional request for a stored response went to the origin; waiting for its answer."),
    /** A stored response is on its way to the client. */
    SENDING_STORED("sending-stored", "A stored response is on its way to the client."),
    /** An origin's response is on its way to the client. */
    SENDING_FETCHED("sending-fetched", "An origin's response is on its way to the client."),
    /** An answer of the proxy's own is on its way to the client. */
    SENDING_LOCAL("sending-local", "An answer of the proxy's own is on its way to the client."),
    /** The connection speaks another protocol, joined to an origin's byte for byte. */
    TUNNELLING("tunnelling", "The connection speaks another protocol, joined to an origin's byte for byte."),
    /** The response was handed over whole. */
    DONE("done", "The response was handed over whole."),
    /** The client left, or the response broke off after its head. */
    ABORTED("aborted", "The client left, or the response broke off after its head.");

    private static final Map<ExchangePhase, Set<ExchangePhase>> TRANSITIONS = transitionTable();

    private final String text;
    private final String sentence;

    ExchangePhase(String text, String sentence) {
        this.text = text;
        this.sentence = sentence;
    }

    /** A stable word for logs. */
    public String text() {
        return text;
    }

    /** What the phase means, for the printed table. */
    public String sentence() {
        return sentence;
    }

    /** The phases that may follow this one. */
    public Set<ExchangePhase> next() {
        return TRANSITIONS.getOrDefault(this, Set.of());
    }

    /** Whether the exchange is over. */
    public boolean isTerminal() {
        return this == DONE || this == ABORTED;
    }

    private static Map<ExchangePhase, Set<ExchangePhase>> transitionTable() {
        Map<ExchangePhase, Set<ExchangePhase>> table = new EnumMap<>(ExchangePhase.class);
        table.put(
                RECEIVED, EnumSet.of(OPENING, COLLAPSED, FETCHING, VALIDATING, SENDING_STORED, SENDING_LOCAL, ABORTED));
        table.put(
                OPENING, EnumSet.of(OPENING, COLLAPSED, FETCHING, VALIDATING, SENDING_STORED, SENDING_LOCAL, ABORTED));
        table.put(
                COLLAPSED,
                EnumSet.of(
                        OPENING,
                        COLLAPSED,
                        FETCHING,
                        VALIDATING,
                        SENDING_STORED,
                        SENDING_FETCHED,
                        SENDING_LOCAL,
                        ABORTED));
        table.put(FETCHING, EnumSet.of(SENDING_STORED, SENDING_FETCHED, SENDING_LOCAL, TUNNELLING, ABORTED));
        table.put(VALIDATING, EnumSet.of(FETCHING, SENDING_STORED, SENDING_FETCHED, SENDING_LOCAL, ABORTED));
        table.put(SENDING_STORED, EnumSet.of(DONE, ABORTED));
        table.put(SENDING_FETCHED, EnumSet.of(DONE, ABORTED));
        table.put(TUNNELLING, EnumSet.of(DONE, ABORTED));
        table.put(SENDING_LOCAL, EnumSet.of(DONE, ABORTED));
        return table;
    }
}
